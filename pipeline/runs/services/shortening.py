"""Request a shorter version of an expert's feedback, with one recorded and billed model call outside the flow.

The expert sees both texts and chooses one.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from core.errors import BadInput, NotAllowedNow
from core.texts import check_text
from pipeline.models import Draft, Endpoint, Run, Shortening
from pipeline.scheduling.batches import is_used_up
from pipeline.scheduling.dispatch import dispatch_runs
from pipeline.types import Role

# Models follow longer feedback less reliably. Up to this length, shortening is unnecessary.
MAX_WORDS = 60
MAX_POINTS = 3
MAX_TEXT = 8_000


def is_long(text: str) -> bool:
    """Return whether feedback has more words or points than a model follows reliably."""
    points = sum(1 for line in text.splitlines() if line.strip())
    return len(text.split()) > MAX_WORDS or points > MAX_POINTS


def can_shorten(run: Run) -> bool:
    """Return whether this run's refiner model can be called. The run must have finished and the endpoint must be on."""
    roles = run.spec.get("roles")
    refiner = roles.get(Role.REFINER.value) if isinstance(roles, dict) else None
    if run.finished_at is None or not isinstance(refiner, dict):
        return False
    endpoint = Endpoint.objects.filter(pk=refiner.get("endpoint_id") or 0).first()
    return endpoint is not None and endpoint.is_on


@transaction.atomic
def ask_shorter(draft: Draft, *, text: str, by: User) -> Shortening:
    """Request a shorter version of feedback on a Draft. The same text is not billed twice.

    Raises BadInput if the text is empty or already short, and NotAllowedNow if no model is available or the budget of
    the run's batch is used up.
    """
    text = check_text(text, field="feedback", most=MAX_TEXT).replace("\r\n", "\n").strip()
    if not text:
        raise BadInput(_("Write your feedback first."), field="feedback")
    if not is_long(text):
        raise BadInput(_("This feedback is already short enough."), field="feedback")
    run = Run.objects.select_for_update(of=("self",)).select_related("batch").get(pk=draft.run_id)
    before = run.shortenings.filter(draft=draft, text=text, asked_by=by)
    same = before.exclude(state=Shortening.State.FAILED).first()
    if same is not None:
        return same
    _check_can_ask(run)
    last = run.shortenings.aggregate(last=Max("number"))["last"] or 0
    shortening = Shortening.objects.create(
        run=run, number=last + 1, draft=draft, text=text, asked_by=by
    )
    if run.state != Run.State.RUNNING:
        run.state, run.not_before = Run.State.QUEUED, None
        run.save(update_fields=["state", "not_before"])
    dispatch_runs([run])
    return shortening


def _check_can_ask(run: Run) -> None:
    if not can_shorten(run):
        raise NotAllowedNow(_("No model is available to shorten your feedback."))
    batch = run.batch
    if batch is not None and batch.paused_at is not None:
        raise NotAllowedNow(_("The study's model calls are paused."))
    if batch is not None and is_used_up(batch):
        raise NotAllowedNow(_("The study's budget is used up."))
