"""The base of all writable admin pages. Only curators may use them, and the pages show the services' errors."""

from __future__ import annotations

from typing import TypeVar

from django.contrib import admin
from django.db.models import Exists, Model, OuterRef, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrPromise

from catalog.access import CURATE
from catalog.listing import services as listing
from catalog.models import Entry, Tag, Version
from core.errors import BadInput, NotAllowedNow, Refused

MOST_TAGS = 200  # shown in a filter
AnyModel = TypeVar("AnyModel", bound=Model)
Words = str | StrPromise


class CuratedAdmin(admin.ModelAdmin[AnyModel]):
    """A page on which curators change objects through services. The form shows the services' errors."""

    through_services = (
        True  # checked by the admin site, which makes all other admin pages read-only
    )
    show_full_result_count = False
    list_per_page = 50

    def has_view_permission(self, request: HttpRequest, obj: AnyModel | None = None) -> bool:
        return request.user.has_perm(CURATE)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(CURATE)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(CURATE)

    def has_change_permission(self, request: HttpRequest, obj: AnyModel | None = None) -> bool:
        return request.user.has_perm(CURATE)

    def has_delete_permission(self, request: HttpRequest, obj: AnyModel | None = None) -> bool:
        return False

    def get_form(
        self,
        request: HttpRequest,
        obj: AnyModel | None = None,
        change: bool = False,
        **options: object,
    ) -> type[ModelForm[AnyModel]]:
        form = super().get_form(request, obj, change, **options)
        return type(form.__name__, (form,), {"refusal": getattr(request, "refusal", None)})

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except Refused as refusal:
            # The service changed nothing. Show the form again with the error.
            request.refusal = refusal  # type: ignore[attr-defined]
            response = super().changeform_view(request, object_id, form_url, extra_context)
            response.status_code = 409 if isinstance(refusal, NotAllowedNow) else 422
            return response


class ShowsScript:
    """A mixin for pages that show the script of a version."""

    @admin.display(description=_("script"))
    def text(self, version: Version) -> SafeString:
        """Return the script as preformatted HTML, with its whitespace."""
        return format_html("<pre>{}</pre>", version.script)


def find(term: str) -> list[int]:
    """Return the keys of the entries that text or vector search finds for the term."""
    try:
        return [entry.pk for entry in listing.search_entries(term).entries]
    except BadInput:
        return []


class VersionFilter(admin.SimpleListFilter):
    """A filter for entries that have a version with the selected value."""

    field = ""
    choices_of: list[tuple[str, Words]] = []

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, Words]]:
        return self.choices_of

    def queryset(self, request: HttpRequest, queryset: QuerySet[Entry]) -> QuerySet[Entry]:
        if not self.value():
            return queryset
        fits = Version.objects.filter(entry=OuterRef("pk"), **{self.field: self.value()})
        return queryset.filter(Exists(fits))


class StateFilter(VersionFilter):
    title = _("state")
    field = parameter_name = "state"
    choices_of = list(Version.State.choices)


class RiskFilter(VersionFilter):
    title = _("risk")
    field = parameter_name = "risk"
    choices_of = list(Version.Risk.choices)


class SideEffectFilter(VersionFilter):
    title = _("side effect")
    field = parameter_name = "side_effect"
    choices_of = list(Version.SideEffect.choices)


class TagFilter(VersionFilter):
    title = _("tag")
    parameter_name = "tag"
    field = "tags__name"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, Words]]:
        return [(name, name) for name in Tag.objects.values_list("name", flat=True)[:MOST_TAGS]]


class SuspendedFilter(admin.SimpleListFilter):
    title = _("suspended")
    parameter_name = "suspended"

    def lookups(self, request: HttpRequest, model_admin: object) -> list[tuple[str, Words]]:
        return [("yes", _("Yes")), ("no", _("No"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Entry]) -> QuerySet[Entry]:
        if not self.value():
            return queryset
        return queryset.filter(suspended_at__isnull=self.value() == "no")
