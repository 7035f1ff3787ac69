"""Read a campaign's dashboard: progress, pace, reviewers, stalled items, disagreements and costs.

Counts that grow with the number of scores come from tallies, which are updated as scores arrive. All other data is read
by index lookups, so pages can poll the dashboard of a campaign of any size.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.db.models import Count, Exists, F, OuterRef, Sum
from django.utils import timezone

from pipeline.message_batches.services import Progress as BatchProgress
from pipeline.models import Run
from pipeline.scheduling.batches import spent_by
from pipeline.services import awaits_replies, progress_of
from review.campaigns.forecast import PACE_DAYS, Pace, read_pace
from review.counting.contributions import DAY, LEFT, TIME, WORK
from review.counting.summary import StageLine, read_agreement, read_stages
from review.counting.tallies import count_due
from review.models import Assignment, Campaign, Case, Item
from review.queue.eligibility import items_without_reviewer
from review.queue.members import reviewers_with_room
from review.queue.overview.later_items import Later, read_later
from review.queue.reviewer_checks.gold import KNOWN, gold_scores
from review.sampling import EVERYBODY

DAYS = 14
_MOST_DUE = 500
_SHOWN = 10
_OFTEN = 3  # expired claims
_LONG = timedelta(minutes=15)
# Above this number of items, counts are cached. Counting would take longer than the rest of the page.
_MANY = 20_000
_SECONDS_KEPT = 5


@dataclass(frozen=True)
class Progress:
    """Counts of items by state. The total excludes withdrawn items."""

    preparing: int = 0
    held: int = 0
    open: int = 0
    closed: int = 0
    withdrawn: int = 0

    @property
    def total(self) -> int:
        return self.preparing + self.held + self.open + self.closed

    @property
    def unfinished(self) -> int:
        """Return the number of items whose review is not finished."""
        return self.preparing + self.held + self.open


@dataclass(frozen=True)
class ReviewerLine:
    """A reviewer's row on the dashboard."""

    user: User
    paused: bool
    done: int
    active: int
    recent: int  # reviews in the last PACE_DAYS days
    minutes_each: float | None  # active time per review
    last_at: datetime | None
    agreed: int
    compared: int
    gold: tuple[int, int] | None  # correct scores and all scores on gold items
    later: Later | None = None  # items delayed by the gap between scripts for a statement


@dataclass(frozen=True)
class Stall:
    """A stalled item. `why` is `expired`, `nobody`, `waiting` or `failed`.

    The item's claims expired, no reviewer can claim the item, or its run is waiting or has failed.
    """

    item: Item
    why: str
    times: int = 0


@dataclass(frozen=True)
class Money:
    """Costs in micro-dollars. `budget` is None if the campaign has no limit."""

    spent: int
    budget: int | None
    paused_why: str
    paused: bool


@dataclass(frozen=True)
class Dashboard:
    """The data of the dashboard page."""

    progress: Progress
    stages: Sequence[StageLine]
    reviewers: Sequence[ReviewerLine]
    days: Sequence[tuple[date, int]]  # reviews done on each of the last DAYS days
    left: int  # reviews still needed
    pace: Pace
    stalls: Sequence[Stall]
    disputed: int
    planned: int | None  # planned statements scored in this installation; None without a plan
    says_planned: bool  # True if `planned` differs from the progress
    money: Money | None
    batches: BatchProgress | None  # None if the campaign uses no message batches

    @property
    def later(self) -> Sequence[ReviewerLine]:
        """Return the reviewers who must wait for their next items, in order of the waiting time."""
        kept = [(line.later.at, line) for line in self.reviewers if line.later]
        return [line for _at, line in sorted(kept, key=lambda one: one[0])]


def read_progress(campaigns: Iterable[Campaign]) -> dict[int, Progress]:
    """Return the progress of each campaign from counts of its real items by state.

    Training and gold items, repeats and halo checks are not counted, because a study can finish while they are open.
    """
    found = list(campaigns)
    again = [one.pk for one in found if one.halo_share or one.repeat_share]
    # The first query is an index lookup. Only campaigns with repeats, halo checks or known answers need the others.
    every = Item.objects.filter(campaign__in=[one.pk for one in found if one.pk not in again])
    shown_again = Item.objects.filter(campaign__in=again, again="")
    known = Item.objects.filter(case__campaign__in=found, case__purpose__in=KNOWN)
    parts = (
        items.order_by().values_list("campaign", "state").annotate(count=sign * Count("pk"))
        for items, sign in ((every, 1), (shown_again, 1), (known, -1))
    )
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for campaign, state, count in next(parts).union(*parts, all=True):
        counts[campaign][state] += count
    return {campaign: Progress(**states) for campaign, states in counts.items()}


def read_dashboard(campaign: Campaign) -> Dashboard:
    """Return the campaign's dashboard. The number of queries does not depend on its size."""
    count_due(campaign, most=_MOST_DUE)
    progress, disputed = _count_items(campaign)
    work = _read_work(campaign)
    agreed, compared = read_agreement(campaign)
    later = read_later([campaign], work.reviewers)
    planned = count_planned(campaign)
    money = _read_money(campaign)
    return Dashboard(
        progress=progress,
        stages=read_stages(campaign),
        reviewers=[
            _line(
                user,
                work,
                agreed[user.pk],
                compared[user.pk],
                later=later.get((campaign.pk, user.pk)),
            )
            for user in _people(work)
        ],
        days=work.days,
        left=work.left,
        pace=read_pace(
            campaign,
            work.days,
            done=sum(count for day, count in work.done_on.items() if day != date.min),
            left=work.left,
            last_at=max(work.last_at.values(), default=None),
            reviewers=work.reviewers,
        ),
        stalls=_read_stalls(campaign, work, is_large=progress.total > _MANY),
        disputed=disputed,
        planned=planned,
        says_planned=planned is not None
        and (planned, campaign.planned_items) != (progress.closed, progress.total),
        money=money,
        batches=_read_batches(campaign, money),
    )


def _count_items(campaign: Campaign) -> tuple[Progress, int]:
    """Return the progress, and the number of items that are waiting for an adjudicator.

    In large campaigns, both may be a few seconds old.
    """
    key = f"dashboard-items-{campaign.pk}"
    found: tuple[Progress, int] | None = cache.get(key)
    if found is None:
        progress = read_progress([campaign]).get(campaign.pk, Progress())
        found = progress, count_disputed(campaign)
        if progress.total > _MANY:
            cache.set(key, found, _SECONDS_KEPT)
    return found


def count_disputed(campaign: Campaign) -> int:
    """Return the number of items that are waiting for an adjudicator at any stage.

    If multiple arms share a text, only one of their items is marked as disputed.
    """
    return campaign.items.filter(disputed=True).count()


def count_planned(campaign: Campaign) -> int | None:
    """Return the number of planned statements whose items are all closed, or None without a plan.

    Only scores that reviewers gave in this installation count, because imported scores existed before the plan.
    Statements without a score, for example after a failed run, do not count.
    """
    if campaign.planned_items is None:
        return None
    key = f"dashboard-planned-{campaign.pk}"
    found: int | None = cache.get(key)
    if found is None:
        mine = Item.objects.filter(case=OuterRef("pk"), again="").exclude(
            state=Item.State.WITHDRAWN
        )
        if not campaign.pilot_counts:
            mine = mine.exclude(pilot=True)
        elsewhere = mine.filter(assignments__reason=Assignment.Reason.IMPORTED)
        done = campaign.cases.filter(
            Exists(mine),
            ~Exists(mine.exclude(state=Item.State.CLOSED)),
            ~Exists(elsewhere),
            Exists(mine.filter(scores__isnull=False)),
            purpose=Case.Purpose.REAL,
        )
        found = done.count()
        cache.set(key, found, _SECONDS_KEPT)
    return found


def count_reviewers(campaign: Campaign) -> int:
    """Return the number of reviewers who have finished an item of the campaign, from the tallies."""
    done = campaign.tallies.filter(pattern__startswith=DAY, count__gt=0)
    return len({pattern.rpartition(":")[2] for pattern in done.values_list("pattern", flat=True)})


# --- Pace and reviewers -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Work:
    done: Counter[int]  # finished items of each reviewer
    recent: Counter[int]
    seconds: Mapping[int, int]
    active: Mapping[int, int]
    last_at: Mapping[int, datetime]
    paused: frozenset[int]
    gold: Mapping[int, tuple[int, int]]
    days: Sequence[tuple[date, int]]
    done_on: Mapping[date, int]  # `date.min` is the day of imported work
    left: int
    reviewers: frozenset[int]


def _read_work(campaign: Campaign) -> _Work:
    sums: Counter[str] = Counter()
    for pattern, count in campaign.tallies.filter(WORK).values_list("pattern", "count"):
        sums[pattern] += count
    done, recent, done_on = _read_days(sums)
    active = Assignment.objects.filter(
        item__campaign=campaign, state=Assignment.State.ACTIVE
    ).order_by()
    holding = dict(active.values_list("reviewer").annotate(count=Count("pk")))
    members = dict(campaign.members.values_list("user", "paused_at"))
    reviewers = frozenset({*members, *done, *holding})
    today = datetime.now(UTC).date()
    days = [today - timedelta(days=DAYS - 1 - number) for number in range(DAYS)]
    return _Work(
        done=done,
        recent=recent,
        seconds={
            int(pattern.removeprefix(TIME)): count
            for pattern, count in sums.items()
            if pattern.startswith(TIME)
        },
        active=holding,
        last_at=_read_last(campaign, reviewers),
        paused=frozenset(user for user, paused_at in members.items() if paused_at),
        gold=gold_scores(campaign),
        days=[(day, done_on[day]) for day in days],
        done_on=done_on,
        left=sums[LEFT] + _count_preparing(campaign),
        reviewers=reviewers,
    )


def _read_days(
    sums: Mapping[str, int],
) -> tuple[Counter[int], Counter[int], Counter[date]]:
    """Return the numbers of all reviews by reviewer, recent reviews by reviewer, and all reviews by day."""
    done: Counter[int] = Counter()
    recent: Counter[int] = Counter()
    of_day: Counter[date] = Counter()
    today = datetime.now(UTC).date()
    for pattern, count in sums.items():
        if pattern.startswith(DAY):
            text, _colon, reviewer = pattern.removeprefix(DAY).partition(":")
            day = date.fromisoformat(text) if text else date.min
            done[int(reviewer)] += count
            of_day[day] += count
            if day > today - timedelta(days=PACE_DAYS):
                recent[int(reviewer)] += count
    return +done, recent, of_day


def _read_last(campaign: Campaign, reviewers: Iterable[int]) -> dict[int, datetime]:
    """Return the time of each reviewer's latest score in this installation, with one index lookup per reviewer."""
    query = """
        SELECT id, (SELECT score.at FROM review_score score JOIN review_item item ON item.id = score.item_id
                    WHERE score.reviewer_id = reviewer.id AND item.campaign_id = %s AND NOT score.imported
                    ORDER BY score.id DESC LIMIT 1)
        FROM unnest(%s::bigint[]) AS reviewer (id)
    """
    with connection.cursor() as cursor:
        cursor.execute(query, [campaign.pk, list(reviewers)])
        return {reviewer: at for reviewer, at in cursor.fetchall() if at}


def _count_preparing(campaign: Campaign) -> int:
    """Return the number of reviews needed for items in preparation, which the tallies do not include yet."""
    items = campaign.items.filter(state=Item.State.PREPARING, case__purpose=Case.Purpose.REAL)
    wanted: int | None = items.aggregate(left=Sum(F("overlap") - F("done")))["left"]
    return wanted or 0


def _read_stalls(campaign: Campaign, work: _Work, *, is_large: bool) -> list[Stall]:
    items = campaign.items.select_related("case__action", "run", "configuration")
    # Filter by reviewer to use the index on reviewers.
    times = dict(
        Assignment.objects.filter(
            reviewer__in=work.reviewers,
            state=Assignment.State.EXPIRED,
            item__campaign=campaign,
            item__state=Item.State.OPEN,
        )
        .exclude(item__overlap=EVERYBODY)
        .order_by()
        .values_list("item")
        .annotate(times=Count("pk"))
        .filter(times__gte=_OFTEN)
        .order_by("-times", "item")[:_SHOWN]
    )
    unreachable = _find_unreachable(campaign, is_large=is_large) if work.left else []
    expired = sorted(items.filter(pk__in=times), key=lambda one: (-times[one.pk], one.pk))
    waiting = items.filter(
        ~awaits_replies("run"),
        state=Item.State.PREPARING,
        run__state__in=[Run.State.QUEUED, Run.State.RUNNING],
        created_at__lt=timezone.now() - _LONG,
    ).order_by("pk")[:_SHOWN]
    failed = items.filter(run__state=Run.State.FAILED, run__recommended=None).exclude(
        run__origin=Run.Origin.IMPORTED
    )
    return [
        *(Stall(one, "expired", times[one.pk]) for one in expired),
        *(Stall(one, "nobody") for one in items.filter(pk__in=unreachable).order_by("pk")),
        *(Stall(one, "waiting") for one in waiting),
        *(Stall(one, "failed") for one in failed.order_by("pk")[:_SHOWN]),
    ]


def _find_unreachable(campaign: Campaign, *, is_large: bool) -> list[int]:
    """Return the primary keys of the first items that need a score but can't be claimed by any reviewer."""
    if campaign.state not in (Campaign.State.PILOT, Campaign.State.OPEN):
        return []
    key = f"dashboard-unreachable-{campaign.pk}"
    found: list[int] | None = cache.get(key)
    if found is None:
        stuck = items_without_reviewer(campaign, reviewers_with_room(campaign))
        found = list(stuck.order_by("pk").values_list("pk", flat=True)[:_SHOWN])
        if is_large:
            cache.set(key, found, _SECONDS_KEPT * 12)
    return found


def _people(work: _Work) -> list[User]:
    people = User.objects.filter(pk__in=work.reviewers).order_by("username")
    return sorted(people, key=lambda one: -work.done[one.pk])


def _line(
    user: User, work: _Work, agreed: int, compared: int, *, later: Later | None
) -> ReviewerLine:
    done, seconds = work.done[user.pk], work.seconds.get(user.pk)
    return ReviewerLine(
        user=user,
        paused=user.pk in work.paused,
        done=done,
        active=work.active.get(user.pk, 0),
        recent=work.recent[user.pk],
        minutes_each=seconds / 60 / done if seconds and done else None,
        last_at=work.last_at.get(user.pk),
        agreed=agreed,
        compared=compared,
        gold=work.gold.get(user.pk),
        later=None if user.pk in work.paused else later,
    )


def _read_money(campaign: Campaign) -> Money | None:
    batch = campaign.batch
    if batch is None:
        return None
    spent = spent_by(batch)
    if not spent and batch.budget is None and not campaign.configurations.exists():
        # The campaign has no runs in this installation, so it has no costs.
        return None
    return Money(
        spent=spent,
        budget=batch.budget,
        paused_why=batch.paused_why,
        paused=batch.paused_at is not None,
    )


def _read_batches(campaign: Campaign, money: Money | None) -> BatchProgress | None:
    """Return the progress of message batches, or None if the campaign uses none and has no paid model calls."""
    if campaign.batch is None:
        return None
    was_paid = money is not None and money.spent
    return progress_of(campaign.batch) if campaign.batch.uses_message_batches or was_paid else None
