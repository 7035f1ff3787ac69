"""Which items of a campaign a person could take now, and the first of them, whose query is prepared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from django.contrib.auth.models import User
from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import Exists, F, OuterRef, QuerySet
from django.db.models.functions import Now

from pipeline.models import Draft, Feedback
from review.models import Assignment, Campaign, Case, Item, Member
from review.queue.assignment_leases import lock_item_row
from review.queue.reviewer_checks.gold import begins_with_training
from review.queue.reviewer_checks.repeats import SITTING_GAP, has_checks, in_turn, suitable_for
from review.queue.slots import give_slot, take_slot

Bounds = tuple[int, int]  # of `Item.shuffle`
# Most urgent first, then as it was asked for. An item is made when its run ends, and its key would tell how long
# that took; the run's own key is as old as the question.
URGENT_FIRST = ("-priority", "run_id", "pk")
_SOME = 50


def eligible_items(
    campaign: Campaign,
    by: User,
    member: Member | None,
    *,
    has_training: bool | None = None,
    by_name: bool = False,
) -> QuerySet[Item]:
    """Waiting items of a campaign that this person has not dealt with, and has no hand in.

    `has_training` spares a query where it is known whether the campaign begins with a training round. What a
    manager assigns by name need not keep the order of trainings and sittings.
    """
    waiting = suitable_for(_untouched(campaign.pk, by.pk), campaign, by)
    if campaign.is_live or by_name:
        return waiting
    if member is None or member.paused_at is not None:
        return waiting.none()
    waiting = _other_statements(waiting, by.pk)
    return _training(waiting) if _is_in_training(campaign, member, has_training) else waiting


def _untouched(campaign: int, by: int) -> QuerySet[Item]:
    dealt_with = Assignment.objects.filter(item=OuterRef("pk"), reviewer=by).exclude(
        state__in=[Assignment.State.RELEASED, Assignment.State.EXPIRED]
    )
    wrote = Draft.objects.filter(run=OuterRef("run"), author=by)
    explained = Feedback.objects.filter(draft__run=OuterRef("run"), author=by)
    return (
        Item.objects.waiting()
        .filter(campaign=campaign)
        .exclude(Exists(dealt_with))
        .exclude(Exists(wrote))
        .exclude(Exists(explained))
    )


def _other_statements(waiting: QuerySet[Item], by: int) -> QuerySet[Item]:
    """Arms of one statement are never scored in one sitting: the second would be scored by the first."""
    other_arm = Assignment.objects.filter(
        item__case=OuterRef("case"),
        reviewer=by,
        state__in=Assignment.HOLDING,
        created_at__gt=Now() - SITTING_GAP,
    )
    return waiting.exclude(Exists(other_arm))


def _training(waiting: QuerySet[Item]) -> QuerySet[Item]:
    return waiting.filter(case__purpose=Case.Purpose.TRAINING)


def _is_in_training(campaign: Campaign, member: Member, has_training: bool | None = None) -> bool:
    if member.trained_at is not None:
        return False
    return begins_with_training(campaign) if has_training is None else has_training


# --- The first of them ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Candidates:
    """What waits for one person, in their order. Without `waiting`, the plain items of the campaign."""

    campaign: Campaign
    by: User
    member: Member | None
    in_training: bool
    waiting: QuerySet[Item] | None = None

    @property
    def is_random(self) -> bool:
        return self.campaign.order == Campaign.Order.RANDOM and self.member is not None

    def take_first(self, bounds: Bounds | None = None) -> Assignment | None:
        """Take the first; those that somebody else is being given at this moment are passed over."""
        order = self.campaign.order if self.is_random else _plain_order(self.campaign)
        seed = self.member.seed if self.is_random and self.member else 0
        if self.waiting is not None:
            return self._take_of(_first_of(self.waiting, order, seed, bounds))
        numbers = {"seed": seed}
        if bounds is not None:
            numbers |= {"low": bounds[0], "high": bounds[1]}
        statement = _statement(
            order=order,
            in_study=not self.campaign.is_live,
            in_training=self.in_training,
            is_bounded=bounds is not None,
        )
        given = give_slot(statement, numbers, to=self.by, campaign=self.campaign.pk)
        if given is not None:
            assignment, (*row, has_arms) = given
            assignment.item = Item.from_db(DEFAULT_DB_ALIAS, _NAMES, row)
            assignment.item.has_arms = has_arms  # type: ignore[attr-defined]
            return assignment
        if self.is_random:
            return None
        # None of the nearest is for this person: there may be others behind them.
        return self._take_of(_first_of(self._all(), order, seed, bounds))

    @transaction.atomic
    def _take_of(self, locked: QuerySet[Item]) -> Assignment | None:
        item = locked.first()
        return take_slot(item, self.by) if item else None

    def some(self) -> list[int]:
        """The keys of some that wait, whoever is being given them at this moment."""
        return list(self._all().order_by("pk").values_list("pk", flat=True)[:_SOME])

    def wait_for(self, pk: int) -> Assignment | None:
        """Take this one, or None where it has been given to somebody else meanwhile; then nothing stays locked.

        To avoid a deadlock, never wait for one item's lock while holding another's.
        """
        with transaction.atomic():
            lock_item_row(pk)
            taken = self._take_of(self._all().filter(pk=pk))
            if taken is None:
                transaction.set_rollback(True)
        return taken

    def _all(self) -> QuerySet[Item]:
        if self.waiting is not None:
            return self.waiting
        return eligible_items(self.campaign, self.by, self.member, has_training=self.in_training)


def candidates_for(campaign: Campaign, by: User, member: Member | None) -> Iterator[Candidates]:
    """What is looked through for a person's next item, one after the other."""
    in_training = member is not None and _is_in_training(campaign, member)
    if not has_checks(campaign):
        yield Candidates(campaign, by, member, in_training)
        return
    for some in in_turn(
        eligible_items(campaign, by, member, has_training=in_training), campaign, by
    ):
        yield Candidates(campaign, by, member, in_training, some)


def _plain_order(campaign: Campaign) -> str:
    by_priority = campaign.order == Campaign.Order.PRIORITY
    return Campaign.Order.PRIORITY if by_priority else Campaign.Order.OLDEST


def _first_of(
    waiting: QuerySet[Item], order: str, seed: int, bounds: Bounds | None
) -> QuerySet[Item]:
    if order == Campaign.Order.RANDOM:
        waiting = waiting.annotate(place=F("shuffle").bitxor(seed)).order_by("place", "pk")
    else:
        waiting = waiting.order_by(*(URGENT_FIRST if order == "priority" else ("pk",)))
    if bounds is not None:
        waiting = waiting.filter(shuffle__gte=bounds[0], shuffle__lt=bounds[1])
    return waiting.select_for_update(skip_locked=True, of=("self",))


# --- The same as a plain statement ------------------------------------------------------------------------------
# What is near is put in order first, and then only so many items are looked at as it takes to find one. Each
# OFFSET 0 keeps the planner from reading all that the person ever did, as it would for a join or a hash where
# its statistics are of yesterday. The item itself is asked once more where it is locked, for another may have
# been faster.

_NAMES = [field.attname for field in Item._meta.concrete_fields]
_COLUMNS = ", ".join(f'item."{field.column}"' for field in Item._meta.concrete_fields)
_FIRST = """
SELECT {columns},
    EXISTS (SELECT FROM review_item AS arm WHERE arm.case_id = near.case_id AND arm.id <> near.id)
FROM (
    SELECT id, case_id, run_id, {place} AS place FROM review_item
    WHERE campaign_id = %(campaign)s AND state = 'open' AND places > 0 {bounds}
    ORDER BY {place} {direction}, {tie} {fence}
) AS near JOIN review_item AS item ON item.id = near.id
WHERE item.state = 'open' AND item.places > 0
    AND NOT EXISTS (
        SELECT FROM review_assignment WHERE item_id = near.id AND reviewer_id = %(by)s
            AND state NOT IN ('released', 'expired') OFFSET 0
    )
    AND NOT EXISTS (
        SELECT FROM pipeline_draft WHERE run_id = near.run_id AND author_id = %(by)s OFFSET 0
    )
    AND NOT EXISTS (
        SELECT FROM pipeline_feedback AS feedback JOIN pipeline_draft AS draft ON draft.id = feedback.draft_id
        WHERE draft.run_id = near.run_id AND feedback.author_id = %(by)s OFFSET 0
    )
    {study} {training}
ORDER BY near.place {direction}, near.{tie}, near.id LIMIT 1 FOR UPDATE OF item SKIP LOCKED
"""
_ANOTHER_STATEMENT = f"""
    AND NOT EXISTS (
        SELECT FROM review_item AS arm WHERE arm.case_id = near.case_id AND EXISTS (
            SELECT FROM review_assignment AS had WHERE had.item_id = arm.id AND had.reviewer_id = %(by)s
                AND had.state IN ('active', 'waiting', 'submitted')
                AND had.created_at > statement_timestamp() - interval '{SITTING_GAP.total_seconds():.0f} seconds'
                OFFSET 0
        ) OFFSET 0
    )
"""
_TRAINING = "AND (SELECT purpose FROM review_case WHERE id = near.case_id) = 'training'"
# What is ordered by, which way, what comes first of equals, and how many are near: a bucket of the random order,
# else some of the index's first.
_NEAR = {
    Campaign.Order.RANDOM.value: ("(shuffle # %(seed)s)", "", "id", "OFFSET 0"),
    Campaign.Order.PRIORITY.value: ("priority", "DESC", "run_id", "LIMIT 500"),
    Campaign.Order.OLDEST.value: ("id", "", "id", "LIMIT 500"),
}


@cache
def _statement(*, order: str, in_study: bool, in_training: bool, is_bounded: bool) -> str:
    place, direction, tie, fence = _NEAR[order]
    return _FIRST.format(
        columns=_COLUMNS,
        place=place,
        direction=direction,
        tie=tie,
        fence=fence,
        bounds="AND shuffle >= %(low)s AND shuffle < %(high)s" if is_bounded else "",
        study=_ANOTHER_STATEMENT if in_study else "",
        training=_TRAINING if in_training else "",
    )
