"""A campaign's pace over past days, and its expected end at that pace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from review.models import Campaign

PACE_DAYS = 7
_DAY = timedelta(days=1)
# A shorter period says nothing about the pace.
_LEAST = timedelta(minutes=1)
_TOO_FAR = 3_650  # days
_KEPT = 24 * 3_600  # seconds; the time of the first score does not change


@dataclass(frozen=True)
class Pace:
    """Reviews done in this installation from `since` to `until`: the last PACE_DAYS days, or less if the campaign is
    younger.

    For a closed campaign, this is everything from its first to its last review. Imported scores have no pace, and a
    closed or paused campaign has no forecast.
    """

    done: int
    ever: int  # reviews done at any time
    left: int
    since: datetime | None
    until: datetime
    is_closed: bool
    is_paused: bool = False

    @property
    def passed(self) -> timedelta:
        """The period in which these reviews were done."""
        return max(self.until - self.since, _LEAST) if self.since else PACE_DAYS * _DAY

    @property
    def a_day(self) -> float:
        return self.done / (self.passed / _DAY)

    @property
    def an_hour(self) -> float:
        return self.a_day / 24

    @property
    def is_by_the_hour(self) -> bool:
        """Whether too little time has passed for a daily pace."""
        return self.passed < _DAY

    @property
    def minutes(self) -> float:
        return self.passed.total_seconds() / 60

    @property
    def ends_at(self) -> datetime | None:
        """The expected end at this pace; None if the campaign is closed or paused, or nothing is left or done."""
        if self.is_closed or self.is_paused or not self.left or not self.done:
            return None
        days = self.left / self.a_day
        return self.until + days * _DAY if days < _TOO_FAR else None

    @property
    def ends_on(self) -> date | None:
        """The date of the expected end, in the reader's time zone."""
        return timezone.localdate(self.ends_at) if self.ends_at else None

    @property
    def ends_today(self) -> bool:
        """Whether to show the time rather than the date."""
        return self.ends_on == timezone.localdate(self.until)


def read_pace(
    campaign: Campaign,
    days: Sequence[tuple[date, int]],
    *,
    done: int,
    left: int,
    last_at: datetime | None,
    reviewers: Iterable[int],
) -> Pace:
    """Return the campaign's pace from the reviews on each of the last days (in UTC, the newest last).

    `done` is the number of all reviews, `last_at` the time of the newest score.
    """
    now = timezone.now()
    if campaign.state == Campaign.State.CLOSED:
        since = _first_score(campaign, reviewers)
        until = max(last_at, since) if last_at and since else now
        return Pace(done, done, left, since, until, is_closed=True)
    window = days[-PACE_DAYS:]
    recent = sum(count for _day, count in window)
    since = datetime.combine(window[0][0], time.min, UTC) if window else None
    first = _first_score(campaign, reviewers) if recent else None
    if first and since and first > since:
        since = first
    is_paused = campaign.state == Campaign.State.PAUSED
    return Pace(recent, done, left, since, now, is_closed=False, is_paused=is_paused)


def _first_score(campaign: Campaign, reviewers: Iterable[int]) -> datetime | None:
    """Return the time of the first score given in this installation, using one index lookup per reviewer."""
    key = f"campaign-first-score-{campaign.pk}"
    found: datetime | None = cache.get(key)
    if found is None:
        with connection.cursor() as cursor:
            cursor.execute(_FIRST, [campaign.pk, list(reviewers)])
            row: tuple[datetime | None] = cursor.fetchone()
        found = row[0]
        if found is not None:
            cache.set(key, found, _KEPT)
    return found


_FIRST = """
    SELECT min((
        SELECT score.at FROM review_score score JOIN review_item item ON item.id = score.item_id
        WHERE score.reviewer_id = reviewer.id AND item.campaign_id = %s AND NOT score.imported
        ORDER BY score.id LIMIT 1
    ))
    FROM unnest(%s::bigint[]) AS reviewer (id)
"""
