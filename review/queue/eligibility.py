"""Find a campaign's eligible items for a reviewer, and take the first item, using prepared queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from operator import or_
from typing import Any, NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from core.database.prepared import PreparedQuery, fetch
from pipeline.models import Action, Draft, Feedback
from review.models import Adjudication, Assignment, Campaign, Case, Item, Member
from review.queue.assignment_leases import lock_item_row
from review.queue.reviewer_checks.gold import begins_with_training
from review.queue.reviewer_checks.repeats import had_in_sitting, has_checks, in_turn, suitable_for
from review.queue.slots import give_slot, take_slot
from review.sampling import EVERYBODY

Bounds = tuple[int, int]  # a range of `Item.shuffle`


class Rule(NamedTuple):
    """The eligibility rules that apply to a reviewer. `items_for` implements them."""

    in_study: bool
    in_training: bool


# Most urgent first, then by request time. The run's key reflects the request time. The item's key would reveal the
# run's duration, because an item is created when its run ends.
URGENT_FIRST = ("-priority", "run_id", "pk")
_SOME = 50
# Sort the items first, and check each item only if no earlier item could be taken. Checking takes much longer than
# sorting a bucket.
_ONE_BY_ONE = """
SELECT item.* FROM ({in_order}) AS near CROSS JOIN LATERAL ({item}) AS item ORDER BY near.place, near.id LIMIT 1
"""


class LookedUp(Exists):
    """EXISTS that PostgreSQL evaluates row by row, for queries that need only the first row.

    OFFSET 0 keeps the planner from using a join, which would read the reviewer's whole history.
    """

    template = "EXISTS(%(subquery)s OFFSET 0)"


def eligible_items(
    campaign: Campaign,
    by: User,
    member: Member | None,
    *,
    has_training: bool | None = None,
    by_name: bool = False,
) -> QuerySet[Item]:
    """Return the waiting items that this reviewer has neither handled nor contributed to.

    Pass `has_training`, if known, to save a query. Set `by_name` for items that a manager assigns by name, to ignore
    the rules for training and sessions.
    """
    if by_name:
        rule: Rule | None = Rule(in_study=False, in_training=False)
    else:
        rule = rule_for(campaign, member, has_training=has_training)
    if rule is None:
        return Item.objects.none()
    return suitable_for(items_for(campaign.pk, by.pk, rule), campaign, by)


def rule_for(
    campaign: Campaign, member: Member | None, *, has_training: bool | None = None
) -> Rule | None:
    """Return the eligibility rules for a reviewer, or None if the reviewer may not claim items of the study."""
    if campaign.is_live:
        return Rule(in_study=False, in_training=False)
    if member is None or member.paused_at is not None:
        return None
    return Rule(in_study=True, in_training=_is_in_training(campaign, member, has_training))


def items_for(
    campaign: int,
    by: int,
    rule: Rule,
    *,
    exists: type[Exists] = Exists,
) -> QuerySet[Item]:
    """Return the waiting items that this reviewer has neither handled nor contributed to."""
    # Two answers to the same statement are never scored in one session, because the first score would influence the
    # second. Look up each item separately, because a join with assignments would read the reviewer's whole history.
    # Exclude states instead of listing them, because PostgreSQL would otherwise use the index on reviewer and state.
    had = Assignment.objects.filter(had_in_sitting(by), item=OuterRef("pk"), reviewer=by).exclude(
        state__in=Assignment.LET_GO
    )
    other_arm = Item.objects.filter(exists(had), case=OuterRef("case"))
    # Force a search from the statement to its actions, their cases and the cases' items. The planner would start from
    # all items of a campaign that is too new to have statistics.
    of_case = Item.objects.filter(exists(had), case=OuterRef("pk"))
    of_action = Case.objects.filter(exists(of_case), action=OuterRef("pk"), campaign=campaign)
    same_statement = Action.objects.filter(
        exists(of_action), statement_sha256=OuterRef("case__action__statement_sha256")
    ).exclude(statement_sha256="")
    hindrances = [
        *_lasting_hindrances(campaign, by),
        *([other_arm, same_statement] if rule.in_study else []),
    ]
    items = Item.objects.waiting().filter(*(~exists(one) for one in hindrances), campaign=campaign)
    return items.filter(case__purpose=Case.Purpose.TRAINING) if rule.in_training else items


def _lasting_hindrances(campaign: int, by: int) -> list[QuerySet[Any]]:
    """Return queries for permanent exclusions: the reviewer handled, contributed to, or adjudicated the item."""
    dealt_with = Assignment.objects.filter(item=OuterRef("pk"), reviewer=by).exclude(
        state__in=[Assignment.State.RELEASED, Assignment.State.EXPIRED]
    )
    return [
        dealt_with,
        Draft.objects.filter(run=OuterRef("run"), author=by),
        Feedback.objects.filter(draft__run=OuterRef("run"), author=by),
        # An adjudicator never scores the same run, even if a repeat or halo check shows it again.
        Adjudication.objects.filter(item__run=OuterRef("run"), item__campaign=campaign, by=by),
    ]


def items_without_reviewer(campaign: Campaign, reviewers: Iterable[int]) -> QuerySet[Item]:
    """Return the real items with a free slot that none of these reviewers can ever claim."""
    items = Item.objects.waiting().filter(campaign=campaign, again="").exclude(overlap=EVERYBODY)
    for by in reviewers:
        hindrances = (Q(Exists(one)) for one in _lasting_hindrances(campaign.pk, by))
        items = items.filter(reduce(or_, hindrances))
    return items


def has_adjudicated(item: Item, by: User) -> bool:
    """Return whether this user has adjudicated a score of the item's run, and therefore must not score the item."""
    settled = Adjudication.objects.filter(item__run=item.run_id, item__campaign=item.campaign_id)
    return settled.filter(by=by).exists()


def _is_in_training(campaign: Campaign, member: Member, has_training: bool | None = None) -> bool:
    if member.trained_at is not None:
        return False
    return begins_with_training(campaign) if has_training is None else has_training


# --- The first eligible item ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Candidates:
    """A reviewer's waiting items, in order. If `waiting` is None, a prepared query finds the items."""

    campaign: Campaign
    by: User
    member: Member | None
    in_training: bool
    waiting: QuerySet[Item] | None = None

    @property
    def is_random(self) -> bool:
        return self.campaign.order == Campaign.Order.RANDOM and self.member is not None

    def take_first(self, bounds: Bounds | None = None) -> Assignment | None:
        """Take the first item that is not locked by another claim."""
        order = self.campaign.order if self.is_random else _plain_order(self.campaign)
        seed = self.member.seed if self.is_random and self.member else 0
        if self.waiting is not None:
            return self._take_of(_locked(_in_order(self.waiting, order, seed, bounds)))
        query = _first_item(order=order, is_bounded=bounds is not None, rule=self._rule)
        low, high = bounds or (0, 0)
        return self._give(query, {"seed": seed, "low": low, "high": high})

    @property
    def _rule(self) -> Rule:
        return Rule(in_study=not self.campaign.is_live, in_training=self.in_training)

    def _give(self, query: _FirstItem, numbers: Mapping[str, int]) -> Assignment | None:
        given = give_slot(query.sql, numbers, to=self.by, campaign=self.campaign.pk)
        if given is None:
            return None
        assignment, row = given
        assignment.item = query.read(row)
        return assignment

    @transaction.atomic
    def _take_of(self, locked: QuerySet[Item]) -> Assignment | None:
        item = locked.first()
        return take_slot(item, self.by) if item else None

    def some(self) -> list[int]:
        """Return the keys of up to _SOME waiting items, including items that other claims have locked."""
        if self.waiting is not None:
            return list(self.waiting.order_by("pk").values_list("pk", flat=True)[:_SOME])
        values = {"campaign": self.campaign.pk, "by": self.by.pk}
        return [pk for (pk,) in fetch(_some_keys(self._rule), values)]

    def wait_for(self, pk: int) -> Assignment | None:
        """Wait for the item's lock and take the item, or return None if another reviewer got it.

        To avoid a deadlock, the method releases the lock if it does not take the item.
        """
        with transaction.atomic():
            lock_item_row(pk)
            if self.waiting is not None:
                taken = self._take_of(self.waiting.filter(pk=pk))
            else:
                taken = self._give(_certain_item(self._rule), {"near": pk})
            if taken is None:
                transaction.set_rollback(True)
        return taken


def candidates_for(campaign: Campaign, by: User, member: Member | None) -> Iterator[Candidates]:
    """Yield the groups of candidates for a reviewer's next item, in order."""
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


def _in_order(
    waiting: QuerySet[Item], order: str, seed: int, bounds: Bounds | None
) -> QuerySet[Item]:
    if bounds is not None:
        waiting = waiting.filter(shuffle__gte=bounds[0], shuffle__lt=bounds[1])
    if order == Campaign.Order.RANDOM:
        return waiting.annotate(place=F("shuffle").bitxor(seed)).order_by("place", "pk")
    return waiting.order_by(*(URGENT_FIRST if order == Campaign.Order.PRIORITY else ("pk",)))


def _locked(waiting: QuerySet[Item]) -> QuerySet[Item]:
    return waiting.select_for_update(skip_locked=True, of=("self",))


class _FirstItem(NamedTuple):
    """A query that finds and locks an item, and a function that reads its result."""

    sql: str
    read: Callable[[Sequence[object]], Item]


@cache
def _first_item(*, order: str, is_bounded: bool, rule: Rule) -> _FirstItem:
    """Return the query for a reviewer's first waiting item, annotated with `has_arms`."""

    def first(campaign: int, by: int) -> QuerySet[Item]:
        return _locked(_in_order(_for_person(campaign, by, rule), order, 0, None))[:1]

    def in_order(campaign: int, seed: int, low: int, high: int) -> QuerySet[Item]:
        waiting = Item.objects.waiting().filter(campaign=campaign).only("pk")
        return _in_order(waiting, order, seed, (low, high) if is_bounded else None)

    if order != Campaign.Order.RANDOM:
        query = PreparedQuery(first)
        return _FirstItem(query.sql, query.read)
    certain = _certain_item(rule)
    item = certain.sql.replace("%(near)s", "near.id")
    sql = _ONE_BY_ONE.format(in_order=PreparedQuery(in_order).sql, item=item)
    return _FirstItem(sql, certain.read)


@cache
def _certain_item(rule: Rule) -> _FirstItem:
    """Return the query for the item `near`, annotated with `has_arms`, if the reviewer can claim the item."""

    def one(campaign: int, by: int, near: int) -> QuerySet[Item]:
        return _locked(_for_person(campaign, by, rule).filter(pk=near))

    query = PreparedQuery(one)
    return _FirstItem(query.sql, query.read)


@cache
def _some_keys(rule: Rule) -> str:
    def some(campaign: int, by: int) -> QuerySet[Item]:
        waiting = items_for(campaign, by, rule)
        return waiting.order_by("pk").only("pk")[:_SOME]

    return PreparedQuery(some).sql


def _for_person(campaign: int, by: int, rule: Rule) -> QuerySet[Item]:
    arms = Item.objects.filter(case=OuterRef("case")).exclude(pk=OuterRef("pk"))
    return items_for(campaign, by, rule, exists=LookedUp).annotate(has_arms=LookedUp(arms))
