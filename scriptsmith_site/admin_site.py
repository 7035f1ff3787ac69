"""The admin: a window and not a door. Administrators look at everything, and nothing can be changed.

But for what an app itself writes through its services (`through_services`): that is for whom the app lets.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern, URLResolver, path, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from django.views.generic import RedirectView

from scriptsmith_site.people.roles import ADMINISTER

_NOT_SHOWN = frozenset({"account", "mfa", "socialaccount"})

AnyModel = TypeVar("AnyModel", bound=Model)


class _LookOnly:
    """Mixed in before every ModelAdmin: whoever may enter the admin may look, and nothing else."""

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return request.user.has_perm(ADMINISTER)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(ADMINISTER)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class _LookToo:
    """Mixed in before a ModelAdmin that writes through services: administrators look there, too."""

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        may: bool = super().has_view_permission(request, obj)  # type: ignore[misc]
        return may or request.user.has_perm(ADMINISTER)

    def has_module_permission(self, request: HttpRequest) -> bool:
        may: bool = super().has_module_permission(request)  # type: ignore[misc]
        return may or request.user.has_perm(ADMINISTER)


class ReadOnlyAdminSite(AdminSite):
    """For administrators, and for whom an app lets write; they sign in where everybody does."""

    site_header = _("ScriptSmith records")
    site_title = _("ScriptSmith")
    index_title = _("Records")

    def has_permission(self, request: HttpRequest) -> bool:
        return request.user.is_active and (
            request.user.has_perm(ADMINISTER)
            or any(
                model_admin.has_module_permission(request)
                for model_admin in self._registry.values()
                if getattr(model_admin, "through_services", False)
            )
        )

    def register(
        self,
        model_or_iterable: type[AnyModel] | Iterable[type[AnyModel]],
        admin_class: type[ModelAdmin[AnyModel]] | None = None,
        **options: object,
    ) -> None:
        """As Django's, but what is registered can only be looked at, unless services write it.

        What guards accounts is not shown even there: keys of second factors, and who is who at the provider.
        """
        if not isinstance(model_or_iterable, Iterable) and (
            model_or_iterable._meta.app_label in _NOT_SHOWN
        ):
            return
        base = admin_class or ModelAdmin
        mixin = _LookToo if getattr(base, "through_services", False) else _LookOnly
        shown = type(f"{mixin.__name__.lstrip('_')}{base.__name__}", (mixin, base), {})
        super().register(model_or_iterable, shown, **options)

    @method_decorator(login_not_required)
    def login(
        self, request: HttpRequest, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """People sign in where they always do."""
        if not request.user.is_authenticated:
            return redirect_to_login(request.GET.get("next", reverse("admin:index")))
        if not self.has_permission(request):
            raise PermissionDenied
        return redirect("admin:index")

    def get_urls(self) -> list[URLPattern | URLResolver]:
        # A password is changed on the person's own page, where it is recorded.
        own = path("password_change/", RedirectView.as_view(pattern_name="settings"))
        return [own, *super().get_urls()]
