"""Pages to preview, run and undo a merge of two entries."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from catalog.access import access_entry, curator_of
from catalog.curation import services
from catalog.curation.forms import MergeForm, MergeNoteForm
from catalog.curation.services.merging import MergePlan
from catalog.listing import services as listing
from catalog.models import Entry, Merge, NearDuplicate
from core.errors import BadInput, NotAllowedNow
from core.web.forms import retype
from core.web.requests import wants_fragment

MOST_CANDIDATES = 8
LONGEST_QUERY = 500


@require_http_methods(["GET", "HEAD", "POST"])
def entry_merge(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a preview of the merge, or merge on POST."""
    user = curator_of(request)
    source = access_entry(user, slug)
    if request.method != "POST" and wants_fragment(request):
        context = {"source": source, "candidates": _candidates(request, source)}
        return render(request, "catalog/curation/_merge_candidates.html", context)
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
                _('Merged. "%(title)s" now redirects here. You can undo the merge below.')
                % {"title": merge.source.title},
            )
            return redirect("entry-detail", slug=target.slug)
    return _show_merge(request, source, chosen, plan=plan, form=form, status=status)


@require_POST
def merge_undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Undo the merge."""
    user = curator_of(request)
    merge = get_object_or_404(Merge.objects.select_related("source", "target"), pk=pk)
    try:
        services.undo_merge(merge, by=user)
    except NotAllowedNow as refusal:
        messages.error(request, str(refusal))
        return redirect("entry-detail", slug=merge.target.slug)
    messages.success(request, _("Merge undone. This entry was restored."))
    return redirect("entry-detail", slug=merge.source.slug)


def _show_merge(
    request: HttpRequest,
    source: Entry,
    chosen: MergeForm,
    *,
    plan: MergePlan | None = None,
    form: MergeNoteForm | None = None,
    status: int = 200,
) -> HttpResponse:
    shown = plan.retiring[0] if plan and plan.retiring else source.versions.first()
    context = {
        "nav_section": "catalogue",
        "source": source,
        "chosen": chosen,
        "plan": plan,
        "form": form or MergeNoteForm(initial={"seen": plan.seen if plan else ""}),
        "shown": shown,
        "other_way": _other_way(plan),
        "query": request.GET.get("q", ""),
        "candidates": () if plan else _candidates(request, source),
    }
    return render(request, "catalog/curation/merge.html", context, status=status)


def _candidates(request: HttpRequest, source: Entry) -> list[listing.Listed]:
    """Return entries to merge into: search results, or near-duplicates and entries that answer the source's title."""
    query = request.GET.get("q", "").replace("\0", "").strip()[:LONGEST_QUERY]
    pairs = NearDuplicate.objects.to_look_at().about(source)[:MOST_CANDIDATES]
    alike = (
        [] if query else [one.second if one.first_id == source.pk else one.first for one in pairs]
    )
    try:
        found = listing.search_entries(query or source.title, limit=MOST_CANDIDATES + 1).entries
    except BadInput:
        found = []
    others = {entry.pk: entry for entry in (*alike, *found) if entry.pk != source.pk}
    return listing.show_entries(list(others.values())[:MOST_CANDIDATES])


def _other_way(plan: MergePlan | None) -> str:
    """Return the URL of the same merge in the other direction."""
    if plan is None:
        return ""
    address = reverse("entry-merge", args=[plan.target.slug])
    return f"{address}?{urlencode({'into': plan.source.slug})}"
