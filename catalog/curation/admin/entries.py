"""The catalogue in the admin.

Entries, versions and tags can be edited through the product's services. All other data is read-only.
"""

from __future__ import annotations

from typing import TypeVar
from urllib.parse import urlencode

from django import forms
from django.contrib import admin
from django.db.models import Q, QuerySet, Subquery
from django.db.models.expressions import OuterRef
from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from catalog.curation.admin.actions import Action
from catalog.curation.admin.base import (
    CuratedAdmin,
    RiskFilter,
    ShowsScript,
    SideEffectFilter,
    StateFilter,
    SuspendedFilter,
    TagFilter,
    Words,
    find,
)
from catalog.curation.admin.forms import (
    EntryTitleForm,
    NewEntryForm,
    NewVersionForm,
    VersionLabelsForm,
)
from catalog.entries import services as entry_services
from catalog.entries.action_forms import LiftForm, NoteForm, ReasonForm
from catalog.entries.forms import read_links
from catalog.exchange.services.import_plan import VERIFIED_FIRST
from catalog.models import Entry, Phrasing, Version
from core.web.forms import split_lines
from core.web.requests import signed_in

Inner = TypeVar("Inner", Version, Phrasing)


class _ReadOnlyInline(admin.TabularInline[Inner, Entry]):
    """Read-only rows for all users who may view the page."""

    extra = 0
    can_delete = False

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


class VersionInline(ShowsScript, _ReadOnlyInline[Version]):
    model = Version
    fields = (
        "number", "state", "risk", "side_effect", "author", "created_at", "verified_by", "text",
    )  # fmt: skip
    readonly_fields = fields
    show_change_link = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Version]:
        versions = super().get_queryset(request).select_related("entry", "author", "verified_by")
        return versions.defer("entry__document")


class PhrasingInline(_ReadOnlyInline[Phrasing]):
    model = Phrasing
    fields = ("text", "source", "created_at")
    readonly_fields = fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[Phrasing]:
        return (
            super()
            .get_queryset(request)
            .select_related("entry")
            .defer("document", "entry__document")
        )


@admin.register(Entry)
class EntryAdmin(CuratedAdmin[Entry]):
    list_display = ("title", "slug", "state", "risk", "created_at", "suspended_at")
    list_filter = (StateFilter, RiskFilter, SideEffectFilter, SuspendedFilter, TagFilter)
    search_fields = ("title",)
    search_help_text = _("Search phrasings and scripts by keyword or meaning.")
    inlines = (VersionInline, PhrasingInline)
    readonly_fields = (
        "slug", "created_at", "created_by", "suspended_at", "suspended_by", "suspended_why", "merged_into",
    )  # fmt: skip
    actions = (
        Action[Entry]("suspend", _("Suspend"), entry_services.suspend, ReasonForm),
        Action[Entry]("lift", _("Lift the suspension"), entry_services.lift_suspension, LiftForm),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Entry]:
        best = Version.objects.filter(entry=OuterRef("pk")).order_by(VERIFIED_FIRST, "-number")
        return (
            super()
            .get_queryset(request)
            .defer("document")
            .select_related("created_by", "suspended_by", "merged_into")
            .annotate(
                best_state=Subquery(best.values("state")[:1]),
                best_risk=Subquery(best.values("risk")[:1]),
            )
        )

    @admin.display(description=_("state"))
    def state(self, entry: Entry) -> Words:
        """Return the state of the representative version."""
        return dict(Version.State.choices).get(entry.best_state, "–")  # type: ignore[attr-defined]

    @admin.display(description=_("risk"))
    def risk(self, entry: Entry) -> Words:
        """Return the risk of the representative version."""
        return dict(Version.Risk.choices).get(entry.best_risk, "–")  # type: ignore[attr-defined]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Entry], search_term: str
    ) -> tuple[QuerySet[Entry], bool]:
        if not search_term:
            return queryset, False
        return queryset.filter(Q(pk__in=find(search_term)) | Q(slug=search_term)), False

    def get_inlines(
        self, request: HttpRequest, obj: Entry | None
    ) -> tuple[type[VersionInline] | type[PhrasingInline], ...]:
        return self.inlines if obj else ()

    def get_fields(self, request: HttpRequest, obj: Entry | None = None) -> tuple[str, ...]:
        if obj is None:
            return ("title", "script", "wordings")
        if not self.has_change_permission(request, obj):
            return ("title", *self.readonly_fields)
        return ("title", "seen", "next_version", *self.readonly_fields)

    def get_readonly_fields(
        self, request: HttpRequest, obj: Entry | None = None
    ) -> tuple[str, ...]:
        return ("next_version", *self.readonly_fields) if obj else ()

    @admin.display(description=_("next version"))
    def next_version(self, entry: Entry) -> SafeString:
        """Return a link to the form for the entry's next version."""
        address = f"{reverse('admin:catalog_version_add')}?{urlencode({'entry': entry.slug})}"
        return format_html('<a href="{}">{}</a>', address, _("Write another script"))

    def get_form(
        self,
        request: HttpRequest,
        obj: Entry | None = None,
        change: bool = False,
        **options: object,
    ) -> type[forms.ModelForm[Entry]]:
        options["form"] = EntryTitleForm if obj else NewEntryForm
        return super().get_form(request, obj, change, **options)

    def save_model(self, request: HttpRequest, obj: Entry, form: forms.Form, change: bool) -> None:
        typed, by = form.cleaned_data, signed_in(request)
        if change:
            entry_services.rename(obj, title=typed["title"], by=by, seen=typed["seen"])
            return
        made = entry_services.create_entry(
            typed["title"], script=typed["script"], phrasings=split_lines(typed["wordings"]), by=by
        )
        obj.__dict__.update(made.entry.__dict__)


@admin.register(Version)
class VersionAdmin(ShowsScript, CuratedAdmin[Version]):
    list_display = ("entry", "number", "state", "risk", "side_effect", "author", "verified_by")
    list_filter = ("state", "risk", "side_effect", "runs_on", "privileges", "self_verified")
    list_select_related = ("entry", "author", "verified_by")
    search_fields = ("sha256",)
    search_help_text = _("Search entries by keyword or meaning, or by the SHA-256 of a script.")
    readonly_fields = (
        "entry", "number", "state", "text", "parameters", "risk", "side_effect", "findings", "runs_on",
        "operating_system", "shell", "tools", "privileges", "check_before", "check_after", "undo",
        "repeatable", "provenance", "author", "created_at", "verified_by", "verified_at", "self_verified",
    )  # fmt: skip
    actions = (
        Action[Version](
            "submit", _("Submit for review"), entry_services.submit_for_review, NoteForm
        ),
        Action[Version]("verify", _("Verify"), entry_services.verify, NoteForm),
        Action[Version]("verify_again", _("Verify again"), entry_services.verify_again, NoteForm),
        Action[Version]("send_back", _("Send back"), entry_services.send_back, ReasonForm),
        Action[Version]("deprecate", _("Deprecate"), entry_services.deprecate, ReasonForm),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Version]:
        versions = super().get_queryset(request).defer("entry__document")
        return versions.select_related("entry", "author", "verified_by", "owner")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Version], search_term: str
    ) -> tuple[QuerySet[Version], bool]:
        if not search_term:
            return queryset, False
        return queryset.filter(Q(entry__in=find(search_term)) | Q(sha256=search_term)), False

    def get_fields(self, request: HttpRequest, obj: Version | None = None) -> tuple[str, ...]:
        if obj is None:
            return ("entry_slug", "script_text", "note", "seen")
        labels = ("tag_names", "owner_name", "link_lines", "seen")
        return (
            *(labels if self.has_change_permission(request, obj) else ()),
            *self.readonly_fields,
        )

    def get_readonly_fields(
        self, request: HttpRequest, obj: Version | None = None
    ) -> tuple[str, ...]:
        return self.readonly_fields if obj else ()

    def get_form(
        self,
        request: HttpRequest,
        obj: Version | None = None,
        change: bool = False,
        **options: object,
    ) -> type[forms.ModelForm[Version]]:
        options["form"] = VersionLabelsForm if obj else NewVersionForm
        return super().get_form(request, obj, change, **options)

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, str | list[str]]:
        slug = request.GET.get("entry", "")
        newest = Version.objects.filter(entry__slug=slug).order_by("-number").first()
        if newest is None:
            return {}
        return {"entry_slug": slug, "script_text": newest.script, "seen": str(newest.number)}

    def save_model(
        self, request: HttpRequest, obj: Version, form: forms.Form, change: bool
    ) -> None:
        typed, by = form.cleaned_data, signed_in(request)
        if change:
            assert isinstance(form, VersionLabelsForm)
            entry_services.set_details(
                obj,
                by=by,
                tags=form.tags(),
                links=read_links(form.labels["links"]),
                owner=form.labels["owner"],
                seen=typed["seen"],
            )
            return
        versions = typed["entry_slug"].versions
        edited = versions.filter(number=typed["seen"]).first() or versions.latest("number")
        made = entry_services.edit_version(
            edited,
            script=typed["script_text"],
            details=entry_services.details_of(edited),
            by=by,
            note=typed["note"],
        )
        obj.__dict__.update(made.__dict__)
