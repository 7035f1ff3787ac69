"""Near-duplicates and what a newer checker says: lists to work through, and merging."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog import analysis, services
from catalog.access import access_entry
from catalog.curation.forms import MergeForm, MergeNoteForm
from catalog.curation.services.merging import MergePlan
from catalog.curation.services.rechecks import Changed
from catalog.entries.forms import retype
from catalog.entries.services.locks import CURATE, require
from catalog.listing.services.filters import Filters
from catalog.listing.services.search import Listed
from catalog.models import Entry, Merge, NearDuplicate, Recheck
from core.errors import NotAllowedNow
from core.web.requests import page_of

PAIRS = 50
FINDINGS = 50
WORDINGS = 50
COUNTED = 100  # beyond it a tab says "100+"


@dataclass(frozen=True)
class Tab:
    """A link above a list."""

    label: str
    url: str
    count: str
    current: bool


class Pair(NamedTuple):
    """Two entries side by side."""

    pair: NearDuplicate
    first: Listed
    second: Listed


class Finding(NamedTuple):
    """What a recheck says, and in what it differs."""

    recheck: Recheck
    changed: Changed


def curator_of(request: HttpRequest) -> User:
    """The curator behind the request; PermissionDenied for anybody else."""
    if not isinstance(request.user, User):
        raise PermissionDenied
    require(request.user, CURATE)
    return request.user


def tabs_of(user: User, current: str, query: str = "") -> list[Tab]:
    """The lists that this curator works through; `query` is what narrows the one of entries now."""
    listed = reverse("catalog-list")
    lists = [
        (_("All entries"), ""),
        (_("To verify"), "state=in_review"),
        (_("Not verified lately"), "age=old180"),
        (_("Never used"), "state=verified&use=never"),
        (_("Made it worse"), "use=worse"),
    ]
    tabs = [
        Tab(label, f"{listed}?{address}", "", current == "list" and query == address)
        for label, address in lists
    ]
    return [
        *tabs,
        Tab(
            _("Wordings to confirm"),
            reverse("wording-list"),
            _count(services.waiting_to_confirm(user)),
            current == "wordings",
        ),
        Tab(
            _("Near-duplicates"),
            reverse("duplicate-list"),
            _count(services.open_pairs()),
            current == "duplicates",
        ),
        Tab(
            _("Newer findings"),
            reverse("finding-list"),
            _count(services.changed_findings()),
            current == "findings",
        ),
    ]


@require_safe
def wording_list(request: HttpRequest) -> HttpResponse:
    """Wordings that wait for a second pair of eyes, of entries that answer."""
    user = curator_of(request)
    page = page_of(services.waiting_to_confirm(user), request, size=WORDINGS)
    context = {"nav_section": "catalogue", "tabs": tabs_of(user, "wordings"), "page": page}
    return render(request, "catalog/curation/wordings.html", context)


@require_safe
def duplicate_list(request: HttpRequest) -> HttpResponse:
    """Pairs of entries that may do the same, the most alike first."""
    user = curator_of(request)
    pairs = list(services.open_pairs()[:PAIRS])
    entries = [entry for pair in pairs for entry in (pair.first, pair.second)]
    rows = {row.entry.pk: row for row in services.rows_of(entries, Filters())}
    shown = [
        Pair(pair, rows[pair.first_id], rows[pair.second_id])
        for pair in pairs
        if pair.first_id in rows and pair.second_id in rows
    ]
    context = {
        "nav_section": "catalogue",
        "tabs": tabs_of(user, "duplicates"),
        "pairs": shown,
        "to_compare": services.to_compare().count(),
    }
    return render(request, "catalog/curation/duplicates.html", context)


@require_POST
def duplicate_dismiss(request: HttpRequest, pk: int) -> HttpResponse:
    """Say that the two are different things."""
    user = curator_of(request)
    pair = get_object_or_404(NearDuplicate.objects.select_related("first", "second"), pk=pk)
    try:
        services.dismiss_pair(pair, by=user)
    except NotAllowedNow as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Noted: two different things."))
    return redirect("duplicate-list")


@require_http_methods(["GET", "HEAD", "POST"])
def entry_merge(request: HttpRequest, slug: str) -> HttpResponse:
    """First what would happen, then the merge itself."""
    user = curator_of(request)
    source = access_entry(user, slug)
    chosen = MergeForm(request.GET if "into" in request.GET else None)
    target = chosen.cleaned_data["into"] if chosen.is_bound and chosen.is_valid() else None
    if target is None:
        return _show_merge(request, source, chosen, status=422 if chosen.is_bound else 200)
    plan = services.plan_merge(source, target=target)
    if request.method != "POST":
        return _show_merge(request, source, chosen, plan=plan)
    form = MergeNoteForm(request.POST)
    status = 422
    if form.is_valid():
        try:
            merge = services.merge_entries(source, target=target, by=user, **form.cleaned_data)
        except NotAllowedNow as refusal:
            form.add_error(None, str(refusal))
            retype(form, seen=plan.seen)
            status = 409
        else:
            messages.success(
                request,
                _('Merged: "%(title)s" leads here from now on. It can be undone below.')
                % {"title": merge.source.title},
            )
            return redirect("entry-detail", slug=target.slug)
    return _show_merge(request, source, chosen, plan=plan, form=form, status=status)


@require_POST
def merge_undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Take the merged entry out again."""
    user = curator_of(request)
    merge = get_object_or_404(Merge.objects.select_related("source", "target"), pk=pk)
    try:
        services.undo_merge(merge, by=user)
    except NotAllowedNow as refusal:
        messages.error(request, str(refusal))
        return redirect("entry-detail", slug=merge.target.slug)
    messages.success(request, _("Undone: this entry is what it was before the merge."))
    return redirect("entry-detail", slug=merge.source.slug)


@require_safe
def finding_list(request: HttpRequest) -> HttpResponse:
    """Versions of which a newer checker says something else."""
    user = curator_of(request)
    page = page_of(services.changed_findings(), request, size=FINDINGS)
    context = {
        "nav_section": "catalogue",
        "tabs": tabs_of(user, "findings"),
        "page": page,
        "findings": [
            Finding(recheck, services.compare_findings(recheck.version, recheck))
            for recheck in page.rows
        ],
        "checkers": analysis.checkers(),
        "to_recheck": services.to_recheck().count(),
    }
    return render(request, "catalog/curation/newer_findings.html", context)


@require_POST
def finding_seen(request: HttpRequest, pk: int) -> HttpResponse:
    """A curator has looked at it."""
    user = curator_of(request)
    recheck = get_object_or_404(Recheck.objects.select_related("version__entry"), pk=pk)
    try:
        services.mark_seen(recheck, by=user)
    except NotAllowedNow as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, _("Noted. It is listed again when the findings change again."))
    return redirect("finding-list")


def _show_merge(
    request: HttpRequest,
    source: Entry,
    chosen: MergeForm,
    *,
    plan: MergePlan | None = None,
    form: MergeNoteForm | None = None,
    status: int = 200,
) -> HttpResponse:
    alike = NearDuplicate.objects.filter(state=NearDuplicate.State.OPEN).select_related(
        "first", "second"
    )
    pairs = [*alike.filter(first=source)[:5], *alike.filter(second=source)[:5]]
    shown = plan.retiring[0] if plan and plan.retiring else source.versions.first()
    context = {
        "nav_section": "catalogue",
        "source": source,
        "chosen": chosen,
        "plan": plan,
        "form": form or MergeNoteForm(initial={"seen": plan.seen if plan else ""}),
        "shown": shown,
        "other_way": _other_way(plan),
        "suggested": [
            (pair, pair.second if pair.first_id == source.pk else pair.first) for pair in pairs
        ],
    }
    return render(request, "catalog/curation/merge.html", context, status=status)


def _other_way(plan: MergePlan | None) -> str:
    """The address of the same merge the other way round."""
    if plan is None:
        return ""
    address = reverse("entry-merge", args=[plan.target.slug])
    return f"{address}?{urlencode({'into': plan.source.slug})}"


def _count(rows: QuerySet[Any]) -> str:
    count = rows.order_by()[: COUNTED + 1].count()
    return f"{COUNTED}+" if count > COUNTED else str(count or "")
