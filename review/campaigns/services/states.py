"""Change the state of a campaign (pilot, open, paused, closed), and update its items and runs."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import MD5, Concat
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import NotAllowedNow
from pipeline import services as pipeline
from pipeline.models import Batch
from review.campaigns.services.editing import arms_of
from review.campaigns.services.rules import is_in_pilot
from review.counting.tallies import note_due
from review.evidence.campaign_cases import fix_cases
from review.models import Campaign, Case, Item
from review.queue.reviewer_checks.repeats import make_halos
from review.study.family import Hypothesis, plan_family

PILOT_SIZE = 10

# The allowed changes of state.
MOVES: dict[str, set[str]] = {
    Campaign.State.SETUP: {Campaign.State.PILOT, Campaign.State.OPEN},
    Campaign.State.PILOT: {Campaign.State.OPEN, Campaign.State.PAUSED, Campaign.State.CLOSED},
    Campaign.State.OPEN: {Campaign.State.PAUSED, Campaign.State.CLOSED},
    Campaign.State.PAUSED: {Campaign.State.PILOT, Campaign.State.OPEN, Campaign.State.CLOSED},
    Campaign.State.CLOSED: {Campaign.State.PAUSED},
}


@dataclass(frozen=True)
class Lack:
    """A reason why a campaign can't be opened, with the setup step that resolves it."""

    step: str
    words: str


def missing_to_open(campaign: Campaign) -> list[Lack]:
    """Return all reasons why the campaign can't be opened yet."""
    found = []
    if not campaign.items.exists():
        found.append(_lacks_items(campaign))
    if not campaign.open_to_all and not campaign.members.exists():
        words = _("No reviewers yet. Add reviewers, or open the study to every reviewer.")
        found.append(Lack("reviewers", words))
    return found


def _lacks_items(campaign: Campaign) -> Lack:
    if not campaign.cases.exists():
        return Lack("items", _("Nothing to review yet. Import items or start the runs."))
    if campaign.configurations.exists():
        return Lack("start", _("No scripts to review yet. Start the runs."))
    return Lack("arms", _("No scripts to review yet. Choose the configurations to run."))


@transaction.atomic
def move_campaign(campaign: Campaign, to: str, *, by: User) -> Campaign:
    """Change the campaign's state and return the campaign. Raises NotAllowedNow if the change is not allowed."""
    locked = (
        Campaign.objects.select_for_update(of=("self",)).select_related("batch").get(pk=campaign.pk)
    )
    if locked.is_live or to not in MOVES[locked.state]:
        raise NotAllowedNow(
            _("The study can't change from “%(now)s” to “%(then)s”.")
            % {"now": locked.get_state_display(), "then": Campaign.State(to).label}
        )
    if to in (Campaign.State.PILOT, Campaign.State.OPEN):
        _check_can_open(locked)
    if (locked.state, to) == (Campaign.State.PAUSED, Campaign.State.PILOT):
        _check_in_pilot(locked)
    if locked.state == Campaign.State.SETUP or (to == Campaign.State.OPEN and _opens(locked)):
        # Fix the family again after the pilot, because the rules may have changed during the pilot.
        fix_family(locked)
    before, locked.state = locked.state, to
    locked.closed_at = timezone.now() if to == Campaign.State.CLOSED else None
    locked.save(update_fields=["state", "closed_at"])
    if to in (Campaign.State.PILOT, Campaign.State.OPEN):
        make_halos(locked)
        fix_cases(locked)
    if to == Campaign.State.PILOT:
        _begin_pilot(locked)
    if to == Campaign.State.OPEN:
        locked.items.filter(state=Item.State.HELD).update(state=Item.State.OPEN)
    if locked.batch:
        _hold_runs(locked.batch, held=to in (Campaign.State.PAUSED, Campaign.State.CLOSED), by=by)
        if to == Campaign.State.CLOSED:
            pipeline.cancel_message_batches(locked.batch, by=by)
    record(locked, "state changed", by=by, state=(before, to))
    return locked


def fix_family(campaign: Campaign) -> None:
    """Fix the family of comparisons that are adjusted with Holm's method.

    Comparisons that are already in the family are not removed.
    """
    arms = (arm.name for arm in arms_of(campaign))
    named = plan_family(arms, has_halo=campaign.halo_share > 0)
    earlier = [Hypothesis(*one) for one in campaign.p_family or ()]
    campaign.p_family = list(dict.fromkeys([*earlier, *named]))
    campaign.save(update_fields=["p_family"])


def _check_can_open(campaign: Campaign) -> None:
    for lack in missing_to_open(campaign):
        raise NotAllowedNow(lack.words)


def _check_in_pilot(campaign: Campaign) -> None:
    if not is_in_pilot(campaign):
        raise NotAllowedNow(
            _(
                "The pilot is over, because other items have been assigned. Resume the study instead."
            )
        )


def _opens(campaign: Campaign) -> bool:
    """Return whether opening the campaign starts its main phase. Until then, all items outside the pilot are held."""
    return (
        campaign.state == Campaign.State.PILOT
        or campaign.items.filter(state=Item.State.HELD).exists()
    )


def pilot_cases(campaign: Campaign, *, ready: bool = False) -> QuerySet[Case]:
    """Return the cases of the pilot: the chosen cases, or else a random sample.

    With `ready`, sample only cases with items.
    """
    real = campaign.cases.filter(purpose=Case.Purpose.REAL)
    of_pilot = Item.objects.filter(case=OuterRef("pk"), pilot=True)
    chosen = real.filter(Exists(of_pilot)).order_by("pk")
    if chosen.exists():
        return chosen
    if ready:
        real = real.filter(Exists(Item.objects.filter(case=OuterRef("pk"))))
    # Sort in the database, so that only the pilot's cases are read.
    drawn = MD5(Concat(Value(f"{campaign.seed}:"), "external_id", output_field=TextField()))
    return real.order_by(drawn, "pk")[: campaign.pilot_size or PILOT_SIZE]


def _begin_pilot(campaign: Campaign) -> None:
    """Mark all items of the pilot's cases as pilot items. Hold all other items except gold and training items."""
    chosen = list(pilot_cases(campaign, ready=True).values_list("pk", flat=True))
    of_pilot = campaign.items.filter(Q(case__in=chosen) | Q(case__repeats__in=chosen))
    note_due(campaign, of_pilot.filter(pilot=False).values_list("pk", flat=True))
    of_pilot.update(pilot=True)
    campaign.items.filter(pilot=False, state=Item.State.OPEN).exclude(
        case__purpose__in=[Case.Purpose.GOLD, Case.Purpose.TRAINING]
    ).update(state=Item.State.HELD)


def _hold_runs(batch: Batch, *, held: bool, by: User) -> None:
    if held and batch.paused_at is None:
        pipeline.pause_batch(batch, why=_("The study is paused."), by=by)
    elif not held and batch.paused_at is not None:
        pipeline.resume_batch(batch, by=by)
