"""How a campaign stands: progress, pace and forecast, each reviewer, what stalls, differences, money.

What tallies count is read from them. The rest is counted over the campaign's rows: at each look while it is
small, else every five minutes, since a page that asks again by itself must not count each time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TypeVar

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db.models import Count, F, Max, Q, QuerySet, Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from pipeline.batches import spent_by
from pipeline.models import Run
from review.glance import StageLine, read_agreement, read_stages
from review.gold import gold_scores
from review.models import Assignment, Campaign, Case, Item, Score
from review.studies import EVERYBODY
from review.tallies import count_due

DAYS = 14
PACE_DAYS = 7
# Up to so many items everything is counted at each look.
SMALL = 3_000
_SECONDS_KEPT = 300
_MOST_DUE = 500
_SHOWN = 10
_OFTEN = 3  # times an item was taken and let go of by silence
_LONG = timedelta(minutes=15)

Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Progress:
    """Items by state, those withdrawn left out of the total."""

    preparing: int = 0
    held: int = 0
    open: int = 0
    closed: int = 0
    withdrawn: int = 0

    @property
    def total(self) -> int:
        return self.preparing + self.held + self.open + self.closed


@dataclass(frozen=True)
class ReviewerLine:
    """One reviewer of the campaign."""

    user: User
    paused: bool
    done: int
    active: int
    recent: int  # done in the last PACE_DAYS days
    minutes_each: float | None  # of active time
    last_at: datetime | None
    agreed: int
    compared: int
    gold: tuple[int, int] | None  # right, of so many


@dataclass(frozen=True)
class Stall:
    """An item that does not get on, and why: expired (taken and let go of), waiting or failed (its run)."""

    item: Item
    why: str
    times: int = 0


@dataclass(frozen=True)
class Money:
    """Micro-dollars; `budget` None where there is no limit."""

    spent: int
    budget: int | None
    paused_why: str
    paused: bool


@dataclass(frozen=True)
class Dashboard:
    """All that the page shows."""

    progress: Progress
    stages: Sequence[StageLine]
    reviewers: Sequence[ReviewerLine]
    days: Sequence[tuple[date, int]]  # reviews done on each of the last DAYS days
    left: int  # reviews still wanted
    pace: float  # reviews a day
    stalls: Sequence[Stall]
    disputed: int
    money: Money | None

    @property
    def is_kept(self) -> bool:
        """Whether reviewers and pace may be some minutes old."""
        return self.progress.total > SMALL

    @property
    def ends_on(self) -> date | None:
        """When it will be done at the pace of late; None where there is none, or nothing is left."""
        if not self.left or not self.pace:
            return None
        days = self.left / self.pace
        return timezone.localdate() + timedelta(days=round(days)) if days < 3_650 else None


def read_progress(campaigns: Iterable[Campaign]) -> dict[int, Progress]:
    """Items by state of each campaign, in one query."""
    counts: dict[int, dict[str, int]] = defaultdict(dict)
    rows = (
        Item.objects.filter(campaign__in=list(campaigns))
        .order_by()
        .values_list("campaign", "state")
        .annotate(count=Count("pk"))
    )
    for campaign, state, count in rows:
        counts[campaign][state] = count
    return {campaign: Progress(**states) for campaign, states in counts.items()}


def read_dashboard(campaign: Campaign) -> Dashboard:
    """How the campaign stands, in a fixed number of queries."""
    count_due(campaign, most=_MOST_DUE)
    progress = read_progress([campaign]).get(campaign.pk, Progress())
    work = _keep(campaign, progress, "work", lambda: _read_work(campaign))
    agreed, compared = read_agreement(campaign)
    recent = sum(count for day, count in work.days[-PACE_DAYS:])
    return Dashboard(
        progress=progress,
        stages=read_stages(campaign),
        reviewers=[_line(user, work, agreed[user.pk], compared[user.pk]) for user in _people(work)],
        days=work.days,
        left=work.left,
        pace=recent / PACE_DAYS,
        stalls=work.stalls,
        disputed=campaign.items.filter(disputed=True).count(),
        money=_read_money(campaign),
    )


# --- Counted over the rows --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Work:
    reviewers: Mapping[int, Mapping[str, object]]
    seconds: Mapping[int, float]
    paused: frozenset[int]
    gold: Mapping[int, tuple[int, int]]
    days: Sequence[tuple[date, int]]
    left: int
    stalls: Sequence[Stall]


def _keep(campaign: Campaign, progress: Progress, name: str, read: Callable[[], Kept]) -> Kept:
    """What `read` finds; of a large campaign, what it found less than five minutes ago."""
    if progress.total <= SMALL:
        return read()
    kept: Kept = cache.get_or_set(f"campaign-{name}-{campaign.pk}", read, _SECONDS_KEPT)  # type: ignore[assignment]
    return kept


def _read_work(campaign: Campaign) -> _Work:
    since = timezone.now() - timedelta(days=PACE_DAYS)
    submitted = Q(state=Assignment.State.SUBMITTED)
    mine = Assignment.objects.filter(item__campaign=campaign).order_by()
    reviewers = mine.values("reviewer").annotate(
        done=Count("pk", filter=submitted),
        active=Count("pk", filter=Q(state=Assignment.State.ACTIVE)),
        recent=Count("pk", filter=submitted & Q(ended_at__gte=since)),
        last_at=Max("ended_at", filter=submitted),
    )
    members = dict(campaign.members.values_list("user", "paused_at"))
    return _Work(
        reviewers={
            **{user: {} for user in members},
            **{row["reviewer"]: dict(row) for row in reviewers},
        },
        seconds=_read_seconds(campaign),
        paused=frozenset(user for user, paused_at in members.items() if paused_at),
        gold=gold_scores(campaign),
        days=_read_days(mine.filter(submitted)),
        left=campaign.items.filter(
            state__in=[Item.State.OPEN, Item.State.HELD, Item.State.PREPARING],
            case__purpose__in=[Case.Purpose.REAL, Case.Purpose.REPEAT],
        ).aggregate(left=Sum(F("overlap") - F("done")))["left"]
        or 0,
        stalls=_read_stalls(campaign),
    )


def _read_seconds(campaign: Campaign) -> dict[int, float]:
    rows = (
        Score.objects.filter(item__campaign=campaign, active_seconds__isnull=False)
        .order_by()
        .values_list("reviewer")
        .annotate(sum=Sum("active_seconds"))
    )
    return {reviewer: float(seconds or 0) for reviewer, seconds in rows}


def _read_days(submitted: QuerySet[Assignment]) -> list[tuple[date, int]]:
    first = timezone.localdate() - timedelta(days=DAYS - 1)
    counts = dict(
        submitted.filter(ended_at__date__gte=first)
        .annotate(day=TruncDate("ended_at"))
        .values_list("day")
        .annotate(count=Count("pk"))
    )
    days = [first + timedelta(days=number) for number in range(DAYS)]
    return [(day, counts.get(day, 0)) for day in days]


def _read_stalls(campaign: Campaign) -> list[Stall]:
    items = campaign.items.select_related("case__action", "run", "configuration")
    expired = (
        items.filter(state=Item.State.OPEN, assignments__state=Assignment.State.EXPIRED)
        .exclude(overlap=EVERYBODY)
        .annotate(times=Count("assignments"))
        .filter(times__gte=_OFTEN)
        .order_by("-times", "pk")[:_SHOWN]
    )
    waiting = items.filter(
        state=Item.State.PREPARING,
        run__state__in=[Run.State.QUEUED, Run.State.RUNNING],
        created_at__lt=timezone.now() - _LONG,
    ).order_by("pk")[:_SHOWN]
    failed = items.filter(run__state=Run.State.FAILED, run__recommended=None).exclude(
        run__origin=Run.Origin.IMPORTED
    )
    return [
        *(Stall(one, "expired", vars(one)["times"]) for one in expired),
        *(Stall(one, "waiting") for one in waiting),
        *(Stall(one, "failed") for one in failed.order_by("pk")[:_SHOWN]),
    ]


def _people(work: _Work) -> list[User]:
    people = User.objects.filter(pk__in=work.reviewers).order_by("username")
    return sorted(people, key=lambda one: -_number(work.reviewers[one.pk], "done"))


def _line(user: User, work: _Work, agreed: int, compared: int) -> ReviewerLine:
    row = work.reviewers[user.pk]
    done, seconds = _number(row, "done"), work.seconds.get(user.pk)
    last = row.get("last_at")
    return ReviewerLine(
        user=user,
        paused=user.pk in work.paused,
        done=done,
        active=_number(row, "active"),
        recent=_number(row, "recent"),
        minutes_each=seconds / 60 / done if seconds and done else None,
        last_at=last if isinstance(last, datetime) else None,
        agreed=agreed,
        compared=compared,
        gold=work.gold.get(user.pk),
    )


def _number(row: Mapping[str, object], name: str) -> int:
    value = row.get(name)
    return value if isinstance(value, int) else 0


def _read_money(campaign: Campaign) -> Money | None:
    batch = campaign.batch
    if batch is None:
        return None
    return Money(
        spent=spent_by(batch),
        budget=batch.budget,
        paused_why=batch.paused_why,
        paused=batch.paused_at is not None,
    )
