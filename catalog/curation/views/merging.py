"""Merging two entries: what would happen, the merge, and undoing it."""

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
from catalog.models import Entry, Merge, NearDuplicate
from core.errors import NotAllowedNow
from core.web.forms import retype


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
