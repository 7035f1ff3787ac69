"""The review screen: score stage by stage, then decide; whatever is refused leaves what was typed in place."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from catalog.types import BadInput, NotAllowedNow, Refused, Stale
from catalog.web import wants_fragment
from review import services
from review.access import access_assignment, access_item
from review.models import Assignment, Decision, Item
from review.people import signed_in
from review.views.showing import show_desk


@require_GET
def review(request: HttpRequest, pk: int) -> HttpResponse:
    """The item as this person may see it now."""
    user = signed_in(request)
    item = access_item(user, pk)
    desk = services.open_desk(item, user)
    return render(request, "review/desk.html", show_desk(desk))


@require_POST
def score(request: HttpRequest, pk: int) -> HttpResponse:
    """Score the stage that is open, and show what opens by it."""
    user = signed_in(request)
    item = access_item(user, pk)
    try:
        services.submit_score(
            item,
            services.Given(
                stage=request.POST.get("stage", ""),
                arm=request.POST.get("arm", "model"),
                value=_whole(request, "value", missing=-1),
                seen=_whole(request, "seen", missing=0),
                comment=request.POST.get("comment", ""),
                view=request.POST.get("view", "plain"),
                active_seconds=_seconds(request),
            ),
            by=user,
        )
    except Refused as refused:
        return _refuse(request, item, refused)
    return _show(request, item)


@require_POST
def decide(request: HttpRequest, pk: int) -> HttpResponse:
    """Approve, edit and approve, or reject; then on to the next item."""
    user = signed_in(request)
    item = access_item(user, pk)
    kind = request.POST.get("kind", "")
    try:
        decision = services.decide(
            item,
            kind=kind,
            draft_sha256=request.POST.get("draft", ""),
            newest_seen=_whole(request, "newest", missing=0),
            reason=request.POST.get("reason", ""),
            # A textarea sends CRLF; scripts are kept as they were typed.
            edited_script=request.POST.get("script", "").replace("\r\n", "\n"),
            by=user,
        )
    except Refused as refused:
        return _refuse(request, item, refused)
    messages.success(request, _said(decision))
    return _next(request, item)


@require_POST
def reveal(request: HttpRequest, pk: int) -> HttpResponse:
    """Show what is hidden before its time; it is noted."""
    user = signed_in(request)
    item = access_item(user, pk)
    access_assignment(user, item)
    try:
        services.reveal(item, request.POST.get("what", ""), by=user)
    except Refused as refused:
        return _refuse(request, item, refused)
    return _show(request, item)


@require_POST
def ask_feedback(request: HttpRequest, pk: int) -> HttpResponse:
    """Have the model explain and refine in the background; go on meanwhile."""
    user = signed_in(request)
    item = access_item(user, pk)
    try:
        services.ask_for_feedback(item, by=user)
    except Refused as refused:
        return _refuse(request, item, refused)
    messages.success(
        request, _("Feedback is being written. The item comes back to you when it is ready.")
    )
    return _next(request, item)


@require_POST
def send_feedback(request: HttpRequest, pk: int) -> HttpResponse:
    """Send one's own feedback; the script is rewritten from it in the background."""
    user = signed_in(request)
    item = access_item(user, pk)
    based_on = _whole(request, "based_on", missing=0) or None
    try:
        services.send_feedback(
            item, text=request.POST.get("feedback", ""), based_on=based_on, by=user
        )
    except Refused as refused:
        return _refuse(request, item, refused)
    messages.success(
        request, _("The script is being rewritten from your feedback, and comes back to you.")
    )
    return _next(request, item)


@require_POST
def give_back(request: HttpRequest, pk: int) -> HttpResponse:
    """Skip, say that it can't be judged, or let go of it."""
    user = signed_in(request)
    item = access_item(user, pk)
    states = {
        "skip": Assignment.State.SKIPPED,
        "cannot_judge": Assignment.State.CANNOT_JUDGE,
        "release": Assignment.State.RELEASED,
    }
    try:
        state = states.get(request.POST.get("how", ""))
        if state is None:
            raise BadInput(_("Choose one of the ways to give it back."), field="how")
        services.give_back(
            access_assignment(user, item), state=state, why=request.POST.get("why", "")
        )
    except Refused as refused:
        return _refuse(request, item, refused)
    if state == Assignment.State.RELEASED:
        return _go(request, reverse("queue"))
    return _next(request, item)


@require_POST
def flag(request: HttpRequest, pk: int) -> HttpResponse:
    """Tell the managers that something is wrong with the item itself."""
    user = signed_in(request)
    item = access_item(user, pk)
    try:
        services.flag(access_assignment(user, item), reason=request.POST.get("reason", ""), by=user)
    except Refused as refused:
        return _refuse(request, item, refused)
    messages.success(request, _("Flagged. A manager will look at it."))
    return _go(request, reverse("item-review", args=[pk]))


@require_POST
def save_scratch(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep what was typed so far; answers with the revision to send the next time."""
    user = signed_in(request)
    item = access_item(user, pk)
    access_assignment(user, item)
    fields: dict[str, object] = {
        name: value
        for name, value in request.POST.items()
        if name in ("comment", "reason", "script", "feedback", "why", "value", "view")
    }
    try:
        scratch = services.save_scratch(
            item, by=user, fields=fields, revision=_whole(request, "revision", missing=0)
        )
    except Stale as stale:
        return JsonResponse({"message": str(stale), "revision": stale.newest}, status=409)
    except BadInput as bad:
        return JsonResponse({"message": str(bad)}, status=422)
    return JsonResponse({"revision": scratch.revision})


@require_POST
def keep_alive(request: HttpRequest, pk: int) -> HttpResponse:
    """A sign of life while the page is open."""
    user = signed_in(request)
    item = access_item(user, pk)
    assignment = access_assignment(user, item)
    try:
        services.keep_alive(assignment, fence=_whole(request, "fence", missing=0))
    except NotAllowedNow as refused:
        return JsonResponse({"message": str(refused)}, status=409)
    return HttpResponse(status=204)


def _show(request: HttpRequest, item: Item) -> HttpResponse:
    """After a change: the screen's fragment for htmx, else the page itself."""
    if not wants_fragment(request):
        return redirect("item-review", pk=item.pk)
    desk = services.open_desk(access_item(signed_in(request), item.pk), signed_in(request))
    return render(request, "review/_desk.html", show_desk(desk))


def _refuse(request: HttpRequest, item: Item, refused: Refused) -> HttpResponse:
    """The same screen with the reason where the person is looking, and all that was typed."""
    user = signed_in(request)
    desk = services.open_desk(access_item(user, item.pk), user)
    context = show_desk(desk, typed=request.POST, refused=refused)
    template = "review/_desk.html" if wants_fragment(request) else "review/desk.html"
    return render(request, template, context, status=422 if isinstance(refused, BadInput) else 409)


def _next(request: HttpRequest, item: Item) -> HttpResponse:
    user = signed_in(request)
    assignment = services.claim_next(item.campaign, by=user)
    if assignment is None:
        return _go(request, reverse("queue"))
    return _go(request, reverse("item-review", args=[assignment.item_id]))


def _go(request: HttpRequest, url: str) -> HttpResponse:
    """Redirect; htmx would put the other page into the fragment's place, so it is told to load it."""
    if wants_fragment(request):
        return HttpResponse(status=204, headers={"HX-Redirect": url})
    return redirect(url)


def _said(decision: Decision) -> str:
    if decision.kind == Decision.Kind.REJECT:
        return _("Rejected.")
    version = decision.publication.version
    if version.state == version.State.VERIFIED:
        return _("Approved. It is verified as “%s” in the catalogue.") % version.entry.title
    return _("Your edit waits for a second pair of eyes: “%s” is in review.") % version.entry.title


def _whole(request: HttpRequest, name: str, *, missing: int) -> int:
    value = request.POST.get(name, "")
    return int(value) if value.isdecimal() and len(value) < 19 else missing


def _seconds(request: HttpRequest) -> float | None:
    try:
        seconds = float(request.POST.get("active_seconds", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < 86_400 else None
