"""Pages for the mirror: its state for administrators, and imported branches for curators."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from catalog.access import CURATE, curator_of
from catalog.models import Entry, Version
from core.errors import BadInput, Stale
from core.web.forms import add_refusal, retype
from core.web.requests import page_of, signed_in, wants_fragment
from scriptsmith_site.integrations.mirror import branches, services
from scriptsmith_site.integrations.mirror.forms import (
    BranchForm,
    GoOnForm,
    MirrorForm,
    PauseForm,
)
from scriptsmith_site.models import Mirror, MirrorBranch, MirrorCommit
from scriptsmith_site.people.services import require_administrator

_PAGE = 25


@require_safe
def mirror(request: HttpRequest) -> HttpResponse:
    """Show the mirror's state and commits. htmx requests get only the live part."""
    require_administrator(signed_in(request))
    if wants_fragment(request):
        return render(request, "integrations/mirror/_commits.html", _context(request))
    return _show(request)


@require_http_methods(["GET", "HEAD", "POST"])
def mirror_edit(request: HttpRequest) -> HttpResponse:
    """Set up or edit the mirror. After an edit conflict, the form keeps the submitted values."""
    user = signed_in(request)
    require_administrator(user)
    found = Mirror.objects.first()
    if request.method != "POST":
        form = MirrorForm.of(found) if found else MirrorForm(is_new=True)
        return _show_form(request, form, found)
    form = MirrorForm(request.POST, is_new=found is None)
    if form.is_valid():
        try:
            if found is None:
                services.set_up(form.values(), by=user)
            else:
                services.change(form.values(), seen=form.cleaned_data["edition"] or 0, by=user)
        except BadInput as refusal:
            add_refusal(form, refusal)
        except Stale as stale:
            retype(form, edition=str(stale.newest))
            return _show_form(request, form, found, stale=str(stale), status=409)
        else:
            messages.success(request, _("Mirror saved. Run a test to check write access."))
            return redirect("mirror")
    return _show_form(request, form, found, status=422)


@require_POST
def mirror_test(request: HttpRequest) -> HttpResponse:
    services.ask_for_test(by=signed_in(request))
    messages.success(request, _("Test started. The result appears here in a few seconds."))
    return redirect("mirror")


@require_POST
def mirror_pause(request: HttpRequest) -> HttpResponse:
    user = signed_in(request)
    require_administrator(user)
    form = PauseForm(request.POST)
    if form.is_valid():
        try:
            services.pause(why=form.cleaned_data["why"], by=user)
        except BadInput as refusal:
            add_refusal(form, refusal)
        else:
            messages.success(request, _("Mirror paused. New publications are on hold."))
            return redirect("mirror")
    return _show(request, pause=form, status=422)


@require_POST
def mirror_resume(request: HttpRequest) -> HttpResponse:
    services.resume(by=signed_in(request))
    messages.success(
        request, _("Mirror resumed. Waiting publications are written first, in order.")
    )
    return redirect("mirror")


@require_POST
def mirror_check(request: HttpRequest) -> HttpResponse:
    services.check_again(by=signed_in(request))
    messages.success(request, _("Check started. The result appears here in a few seconds."))
    return redirect("mirror")


@require_POST
def mirror_go_on(request: HttpRequest) -> HttpResponse:
    user = signed_in(request)
    require_administrator(user)
    form = GoOnForm(request.POST)
    if not form.is_valid():
        return _show(request, status=422)
    services.go_on(found=form.cleaned_data["found"], by=user)
    messages.success(request, _("The mirror will continue in a few seconds."))
    return redirect("mirror")


@require_POST
def mirror_remove(request: HttpRequest) -> HttpResponse:
    services.remove(by=signed_in(request))
    messages.success(request, _("Mirror removed. The repository is unchanged."))
    return redirect("mirror")


@require_http_methods(["GET", "HEAD", "POST"])
def mirror_branches(request: HttpRequest) -> HttpResponse:
    """List the branches that were read, with a form to read another branch."""
    user = curator_of(request)
    form = BranchForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            job = branches.ask_for_branch(form.cleaned_data["branch"], by=user)
        except BadInput as refusal:
            add_refusal(form, refusal)
        else:
            return redirect("mirror-branch", pk=job.pk)
    context = {
        "form": form,
        "mirror": Mirror.objects.first(),
        "page": page_of(
            MirrorBranch.objects.select_related("by").defer("found"), request, size=_PAGE
        ),
    }
    status = 422 if form.errors else 200
    return render(request, "integrations/mirror/branches.html", context, status=status)


@require_safe
def mirror_branch(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the changes of a branch, entry by entry. htmx requests get only the live part."""
    curator_of(request)
    job = get_object_or_404(MirrorBranch.objects.select_related("by"), pk=pk)
    name = "_branch.html" if wants_fragment(request) else "branch.html"
    context = {"job": job, "changes": _changes(job), "usable": _usable(job)}
    return render(request, f"integrations/mirror/{name}", context)


@require_POST
def mirror_branch_take(request: HttpRequest, pk: int) -> HttpResponse:
    user = curator_of(request)
    job = get_object_or_404(MirrorBranch, pk=pk)
    made, refused = branches.take_in(job, by=user)
    for words in refused:
        messages.warning(request, words)
    if made:
        words = ngettext(
            "%s version is in review. Another curator must verify it.",
            "%s versions are in review. Another curator must verify them.",
            len(made),
        )
        messages.success(request, words % len(made))
    return redirect("mirror-branch", pk=pk)


def _usable(job: MirrorBranch) -> int:
    return sum(not one["problem"] for one in job.found)


def _changes(job: MirrorBranch) -> list[dict[str, object]]:
    """Return the changes, each with its entry and the entry's verified version."""
    keys = [one["entry"] for one in job.found if one.get("entry")]
    entries = Entry.objects.defer("document").in_bulk(keys)
    verified = {
        version.entry_id: version
        for version in Version.objects.filter(entry__in=keys, state=Version.State.VERIFIED)
    }
    return [
        {
            **one,
            "entry": entries.get(one.get("entry")),
            "verified": verified.get(one.get("entry")),
        }
        for one in sorted(job.found, key=lambda one: bool(one["problem"]))
    ]


def _show(
    request: HttpRequest, *, pause: PauseForm | None = None, status: int = 200
) -> HttpResponse:
    context = {
        **_context(request),
        "pause_form": pause or PauseForm(),
        "may_curate": signed_in(request).has_perm(CURATE),
    }
    return render(request, "integrations/mirror/detail.html", context, status=status)


def _context(request: HttpRequest) -> dict[str, object]:
    """Return the template context of the page's live part."""
    found = Mirror.objects.select_related("owner").first()
    commits = MirrorCommit.objects.select_related("by")
    page = page_of(commits, request, size=_PAGE)
    keys = {row.entry_id for row in page.rows if row.entry_id}
    entries = Entry.objects.defer("document").in_bulk(keys)
    shown = Version.objects.defer("script", "findings").in_bulk(
        {row.shown_id or row.version_id for row in page.rows} - {None}
    )
    waits = MirrorCommit.objects.filter(
        state__in=[MirrorCommit.State.WAITING, MirrorCommit.State.MADE]
    ).count()
    is_still = found is None or found.paused_at or found.diverged_at
    return {
        "mirror": found,
        "page": page,
        "rows": [
            (row, entries.get(row.entry_id or 0), shown.get(row.shown_id or row.version_id or 0))
            for row in page.rows
        ],
        "waits": waits,
        "go_on_form": GoOnForm(initial={"found": found.found_head if found else ""}),
        "is_under_way": found is not None
        and (
            found.test_asked_at is not None
            or (not is_still and (waits > 0 or not found.has_snapshot))
        ),
    }


def _show_form(
    request: HttpRequest,
    form: MirrorForm,
    found: Mirror | None,
    *,
    stale: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {"form": form, "mirror": found, "stale": stale}
    return render(request, "integrations/mirror/form.html", context, status=status)
