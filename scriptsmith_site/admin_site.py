"""The Django admin. Administrators can view all records but can't change them.

Exceptions are admin classes with `through_services`, which write through services and check their own permissions.
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
    """A mixin that gives administrators read-only access."""

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
    """A mixin that also gives administrators read access to an admin that writes through services."""

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        may: bool = super().has_view_permission(request, obj)  # type: ignore[misc]
        return may or request.user.has_perm(ADMINISTER)

    def has_module_permission(self, request: HttpRequest) -> bool:
        may: bool = super().has_module_permission(request)  # type: ignore[misc]
        return may or request.user.has_perm(ADMINISTER)


class ReadOnlyAdminSite(AdminSite):
    """The admin site for administrators and for users with write access to an app's records.

    It has no sign-in page of its own.
    """

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
        """Register models as Django does, but as read-only unless their admin writes through services.

        Second factors and links to provider accounts are not registered at all.
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
        """Redirect to the regular sign-in page."""
        if not request.user.is_authenticated:
            return redirect_to_login(request.GET.get("next", reverse("admin:index")))
        if not self.has_permission(request):
            raise PermissionDenied
        return redirect("admin:index")

    def get_urls(self) -> list[URLPattern | URLResolver]:
        # Passwords are changed on the settings page, which records the change.
        own = path("password_change/", RedirectView.as_view(pattern_name="settings"))
        return [own, *super().get_urls()]
