"""The review page, where a reviewer scores stage by stage, then decides.

If a request is rejected, the page still shows the typed text.
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from catalog.access import has_second_curator
from core.errors import BadInput, Refused
from core.web.requests import signed_in, wants_fragment
from review.access import access_assignment, access_item, access_item_to_review
from review.desk import services
from review.desk.quick_reasons import with_quick_reason
from review.desk.shown_keys import find_feedback, find_seen
from review.desk.views.evidence_data import show_evidence
from review.desk.views.feedback_secrets import read_choice
from review.desk.views.page_data import show_desk
from review.desk.views.pane_data import read_selection, visible_drafts
from review.desk.views.responses import (
    go,
    queue_of,
    read_fence,
    read_seconds,
    read_whole,
    refuse,
    show_item,
    show_next,
)
from review.desk.views.waiting_data import came_to_nothing, waits_for_rewrite
from review.models import Assignment, Decision, Item
from review.queue import services as queue


@require_safe
def review(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the item as this user may see it. The query string selects the scripts to compare."""
    user = signed_in(request)
    desk = services.open_item(access_item(user, pk), user)
    if "waits" in request.GET and waits_for_rewrite(desk):
        return HttpResponse(status=204)  # no changes, so the page does not need an update
    is_fragment = wants_fragment(request)
    template = "review/desk/_desk.html" if is_fragment else "review/desk/desk.html"
    context = show_desk(desk, selection=read_selection(request.GET), whole=not is_fragment)
    # A reviewer who waited for the rewrite continues with the refined script, unless the rewrite failed.
    context["arrived"] = "waits" in request.GET and not came_to_nothing(desk)
    return render(request, template, context)


@require_safe
def earlier(request: HttpRequest, pk: int) -> HttpResponse:
    """Show the item that this reviewer finished before the current item, to read it or change a score."""
    user = signed_in(request)
    item = access_item(user, pk)
    before = queue.earlier_item(item, by=user)
    return redirect("item-review", pk=before) if before else redirect(queue_of(item))


@require_POST
def score(request: HttpRequest, pk: int) -> HttpResponse:
    """Score the open stage, then show the next stage or the next item."""
    user = signed_in(request)
    given = services.ScoreInput(
        stage=request.POST.get("stage", ""),
        arm=request.POST.get("arm", "model"),
        value=read_whole(request, "value", missing=-1),
        seen=_read_seen(request, pk),
        comment=request.POST.get("comment", ""),
        view=request.POST.get("view", "plain"),
        active_seconds=read_seconds(request),
        pauses=min(read_whole(request, "pauses", missing=0), 1_000),
        fence=read_fence(request),
    )
    try:
        score = services.score_locked(
            lambda: access_item_to_review(user, pk, lock=True), given, by=user
        )
    except Refused as refused:
        return refuse(request, access_item(user, pk), refused)
    item = score.item
    if services.is_through(item, score) and not _is_asked_why(request, item):
        said = _("Scored %(value)s. You can undo this.") % {"value": score.value}
        return show_next(request, item, said=said)
    return show_item(request, pk)


def _is_asked_why(request: HttpRequest, item: Item) -> bool:
    """Return whether test results contradict the scores and the reviewer has not yet given a reason."""
    if not getattr(item, "has_executions", True):
        return False
    user = signed_in(request)
    desk = services.open_item(access_item(user, item.pk), user)
    evidence = show_evidence(desk, visible_drafts(desk))
    return evidence is not None and any(not one.reason for one in evidence.labels)


@require_POST
def decide(request: HttpRequest, pk: int) -> HttpResponse:
    """Approve, edit or reject the script, then show the next item."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    kind, reason = _kind_and_reason(request)
    try:
        decision = services.decide(
            item,
            kind=kind,
            draft_sha256=request.POST.get("draft", ""),
            shown=request.POST.get("shown", ""),
            picked=_picked(request, pk),
            reason=reason,
            # Browsers submit CRLF, which would change the script's line endings.
            edited_script=request.POST.get("script", "").replace("\r\n", "\n"),
            fence=read_fence(request),
            by=user,
        )
    except Refused as refused:
        return refuse(request, item, refused)
    return show_next(request, item, said=_said(decision))


def _kind_and_reason(request: HttpRequest) -> tuple[str, str]:
    """Return the kind of decision and its reason. Rejections and risky approvals have separate reason fields."""
    choice = request.POST.get("kind", "")
    if choice.startswith(Decision.Kind.REJECT):
        return with_quick_reason(choice, request.POST.get("reason", ""))
    return choice, request.POST.get("risk_reason", "")


def _read_seen(request: HttpRequest, pk: int) -> int:
    """Return the primary key of the Draft or feedback that the score form is about."""
    stage, name = request.POST.get("stage", ""), read_whole(request, "seen", missing=-1)
    return find_seen(pk, stage, name)


def _picked(request: HttpRequest, pk: int) -> services.ScoreForm:
    """Return the score form that was submitted together with the decision."""
    return services.ScoreForm(
        stage=request.POST.get("stage", ""),
        arm=request.POST.get("arm", "model"),
        value=read_whole(request, "value", missing=-1) if request.POST.get("value") else None,
        comment=request.POST.get("comment", "").replace("\r\n", "\n"),
        seen=_read_seen(request, pk) if "seen" in request.POST else None,
        view=request.POST.get("view", "plain"),
        active_seconds=read_seconds(request),
        pauses=min(read_whole(request, "pauses", missing=0), 1_000),
        revision=read_whole(request, "revision", missing=0),
    )


@require_POST
def undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Undo the reviewer's last score, decision or skip in this item's campaign, and show the affected item."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    try:
        taken_up = services.undo_last(item.campaign, by=user)
    except Refused as refused:
        return refuse(request, item, refused)
    return show_item(request, taken_up.pk, said=_("Undone. The old value stays in the history."))


@require_POST
def answer(request: HttpRequest, pk: int) -> HttpResponse:
    """Complete an item that was sent back, and show the next item."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    try:
        services.confirm_scores(item, by=user)
    except Refused as refused:
        return refuse(request, item, refused)
    return show_next(request, item, said=_("Your scores were kept."))


@require_POST
def reveal(request: HttpRequest, pk: int) -> HttpResponse:
    """Reveal hidden information early, and record the reveal."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    access_assignment(user, item)
    try:
        services.reveal(item, request.POST.get("what", ""), by=user)
    except Refused as refused:
        return refuse(request, item, refused)
    return show_item(request, pk)


@require_POST
def ask_feedback(request: HttpRequest, pk: int) -> HttpResponse:
    """Request feedback and a refined script from the model, then show the next item."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    try:
        services.ask_for_feedback(item, by=user)
    except Refused as refused:
        return refuse(request, item, refused)
    said = _("The model is writing feedback. The item comes back to you when it is ready.")
    return show_next(request, item, said=said)


@require_POST
def send_feedback(request: HttpRequest, pk: int) -> HttpResponse:
    """Request a rewrite from the reviewer's feedback, then show the next item."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    based_on = read_whole(request, "based_on", missing=0) or None
    if based_on is not None:
        based_on = find_feedback(pk, based_on)
    text = request.POST.get("feedback", "")
    chosen = read_choice(request, item, text)
    try:
        services.send_feedback(item, text=text, based_on=based_on, by=user, secrets=chosen)
    except Refused as refused:
        return refuse(request, item, refused)
    said = _(
        "The model is rewriting the script from your feedback. The item comes back to you when "
        "it is ready."
    )
    return show_next(request, item, said=said)


@require_POST
def give_back(request: HttpRequest, pk: int) -> HttpResponse:
    """Skip the item, report that it can't be judged, or release it."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    states = {
        "skip": Assignment.State.SKIPPED,
        "cannot_judge": Assignment.State.CANNOT_JUDGE,
        "release": Assignment.State.RELEASED,
    }
    how, why = with_quick_reason(request.POST.get("how", ""), request.POST.get("why", ""))
    try:
        state = states.get(how)
        if state is None:
            raise BadInput(_("Choose how to skip this item."), field="how")
        queue.give_back(access_assignment(user, item), state=state, why=why)
    except Refused as refused:
        return refuse(request, item, refused)
    if state == Assignment.State.RELEASED:
        return go(request, queue_of(item))
    return show_next(request, item, said=_("Skipped. You can undo this."))


@require_POST
def flag(request: HttpRequest, pk: int) -> HttpResponse:
    """Report a problem with the item itself to the managers."""
    user = signed_in(request)
    item = access_item_to_review(user, pk)
    try:
        queue.flag(access_assignment(user, item), reason=request.POST.get("flag", ""), by=user)
    except Refused as refused:
        return refuse(request, item, refused)
    return show_item(request, pk, said=_("Flagged. Managers see your message on their Flags page."))


def _said(decision: Decision) -> str:
    if decision.kind == Decision.Kind.REJECT:
        return _("Rejected.")
    version = decision.publication.version
    if version.state == version.State.VERIFIED:
        return _("Approved and added to the catalogue as “%s”.") % version.entry.title
    if not has_second_curator(decision.by):
        return _("Saved. “%s” needs a second reviewer, but no other user is a curator.") % (
            version.entry.title
        )
    return _("Saved. “%s” is waiting for a second reviewer.") % version.entry.title
