"""Prepare a study's items for review: request feedback and a refinement for each item, then open the item."""

from __future__ import annotations

from django.db import transaction

from pipeline import services as pipeline
from pipeline.models import Draft, Feedback, Refinement, Run
from pipeline.types import Arm
from review.models import Campaign, Item, TallyDue
from review.queue.reviewer_checks.repeats import make_halos
from review.sampling import EVERYBODY, is_in_share
from review.study.first_draft import first_draft_of

SLICE = 500


def prepare_item(run_id: int) -> None:
    """Prepare the items of a settled run: request missing feedback and refinements, or open the items.

    If the run ended without a script, its items are closed, because there is nothing to review. Such items count as 0
    in the figures.
    """
    for item in Item.objects.filter(
        run=run_id, state=Item.State.PREPARING, campaign__kind=Campaign.Kind.STUDY
    ).select_related("campaign", "run"):
        _prepare(item)


def prepare_missed(*, most: int = SLICE) -> int:
    """Prepare items whose run settled without a notification, and return the number of these items."""
    missed = (
        Item.objects.filter(
            state=Item.State.PREPARING,
            campaign__kind=Campaign.Kind.STUDY,
            run__state__in=[Run.State.DONE, Run.State.FAILED, Run.State.CANCELLED],
        )
        .select_related("campaign", "run")
        .order_by("pk")[:most]
    )
    found = list(missed)
    for item in found:
        _prepare(item)
    return len(found)


@transaction.atomic
def _prepare(item: Item) -> None:
    locked = (
        Item.objects.select_for_update(of=("self",))
        .select_related("campaign", "run")
        .get(pk=item.pk)
    )
    run = locked.run
    if locked.state != Item.State.PREPARING or run is None or run.is_active:
        return
    first = first_draft_of(list(run.drafts.order_by("number")))
    if first is None:
        locked.state = Item.State.CLOSED
    elif locked.campaign.prepares_all and _can_be_explained(run, first):
        # The refinement continues the run. This function is called again when the run has settled.
        pipeline.ask_refinement(first, by=None)
        return
    else:
        held = locked.campaign.state == Campaign.State.PILOT and not locked.pilot
        locked.state = Item.State.HELD if held else Item.State.OPEN
        locked.sham = _is_sham(locked, first)
    locked.save(update_fields=["state", "sham"])
    TallyDue.objects.create(item=locked, campaign=locked.campaign)
    # The campaign's rules may change until it opens, so halo checks for these items are created when it opens.
    if locked.campaign.state != Campaign.State.SETUP:
        make_halos(locked.campaign, of=locked)


def _can_be_explained(run: Run, first: Draft) -> bool:
    if "roles" not in run.spec:  # the script was imported, so no model can explain it
        return False
    explained = Feedback.objects.filter(draft=first, arm=Arm.MODEL.value).exists()
    asked = Refinement.objects.filter(draft=first, feedback=None).exists()
    return not (explained or asked)


def _is_sham(item: Item, first: Draft) -> bool:
    """Return whether reviewers also see the refined script after scoring a passed script as correct.

    Without such sham stages, the later stages would reveal that the assessor flagged the script.
    """
    passed = item.run is not None and item.run.verdict == "correct"
    refined = Draft.objects.filter(
        run=item.run, feedback__draft=first, feedback__arm=Arm.MODEL.value
    ).exists()
    return (
        passed
        and refined
        and item.overlap != EVERYBODY
        and is_in_share(item.shuffle, item.campaign.sham_share, "sham")
    )
