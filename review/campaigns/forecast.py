"""Compute a campaign's pace over the past days, and its expected end at that pace."""

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
# The minimum period. A shorter period is too short to compute a pace.
_LEAST = timedelta(minutes=1)
_TOO_FAR = 3_650  # days
_KEPT = 24 * 3_600  # seconds


@dataclass(frozen=True)
class Pace:
    """The reviews in this installation from `since` to `until`.

    The period is the last PACE_DAYS days, or less if the campaign's first score is more recent. For a closed campaign,
    the period starts at the first review and ends at the last review. Imported scores are not included.
    """

    done: int
    ever: int  # all reviews
    left: int
    since: datetime | None
    until: datetime
    is_closed: bool
    is_paused: bool = False

    @property
    def passed(self) -> timedelta:
        """Return the length of the period."""
        return max(self.until - self.since, _LEAST) if self.since else PACE_DAYS * _DAY

    @property
    def a_day(self) -> float:
        return self.done / (self.passed / _DAY)

    @property
    def an_hour(self) -> float:
        return self.a_day / 24

    @property
    def is_by_the_hour(self) -> bool:
        """Return whether the period is too short for a daily pace."""
        return self.passed < _DAY

    @property
    def minutes(self) -> float:
        return self.passed.total_seconds() / 60

    @property
    def ends_at(self) -> datetime | None:
        """Return the expected end at this pace, or None.

        The result is None if the campaign is closed or paused, has no finished or remaining reviews, or would end too
        far in the future.
        """
        if self.is_closed or self.is_paused or not self.left or not self.done:
            return None
        days = self.left / self.a_day
        return self.until + days * _DAY if days < _TOO_FAR else None

    @property
    def ends_on(self) -> date | None:
        """Return the date of the expected end in the reader's time zone, or None."""
        return timezone.localdate(self.ends_at) if self.ends_at else None

    @property
    def ends_today(self) -> bool:
        """Return whether the expected end is today, so that the page shows the time instead of the date."""
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
    """Return the campaign's pace. `days` has the number of reviews on each of the last days in UTC, oldest first.

    `done` is the number of all reviews, and `last_at` is the time of the newest score.
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
    """Return the time of the first score in this installation. The time is cached, because it does not change."""
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
