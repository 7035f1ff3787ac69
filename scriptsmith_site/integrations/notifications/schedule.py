"""The time of an email: immediately, at the next full hour or at the user's hour, and outside quiet hours."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from scriptsmith_site.models import NotificationChoices

Digest = NotificationChoices.Digest


class Habits(NamedTuple):
    """A user's email settings, with hours in the user's time zone. Quiet hours apply only if both hours are set."""

    zone: ZoneInfo
    digest: str = Digest.AT_ONCE
    daily_hour: int = 8
    quiet_from: int | None = None
    quiet_until: int | None = None


def mail_time(now: datetime, habits: Habits) -> datetime:
    """Return the UTC time at which the user gets an email about an event that happens now."""
    local = now.astimezone(habits.zone)
    if habits.digest == Digest.HOURLY:
        local = _full_hour(now).astimezone(habits.zone)
    elif habits.digest == Digest.DAILY:
        local = _next(local, habits.daily_hour)
    return after_quiet(local, habits)


def after_quiet(moment: datetime, habits: Habits) -> datetime:
    """Return the moment, or the end of the quiet hours that contain it, in UTC."""
    local = moment.astimezone(habits.zone)
    if _is_quiet(local, habits):
        assert habits.quiet_until is not None
        local = _next(local, habits.quiet_until)
    return local.astimezone(UTC)


def _full_hour(now: datetime) -> datetime:
    utc = now.astimezone(UTC)
    return utc.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)


def _next(local: datetime, hour: int) -> datetime:
    """Return the next time at which the user's local time reaches this hour."""
    today = local.replace(hour=hour, minute=0, second=0, microsecond=0)
    if today > local:
        return today
    return today + timedelta(days=1)  # a calendar day, which may not have 24 hours


def _is_quiet(local: datetime, habits: Habits) -> bool:
    start, end = habits.quiet_from, habits.quiet_until
    if start is None or end is None or start == end:
        return False
    if start < end:
        return start <= local.hour < end
    return local.hour >= start or local.hour < end
