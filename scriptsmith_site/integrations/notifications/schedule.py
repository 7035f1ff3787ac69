"""When an e-mail may go out: at once, at the next full hour or at a person's own, and never in quiet hours."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from scriptsmith_site.models import NotificationChoices

Digest = NotificationChoices.Digest


class Habits(NamedTuple):
    """A person's choices; hours are those of their own day. Quiet only where both its hours are set."""

    zone: ZoneInfo
    digest: str = Digest.AT_ONCE
    daily_hour: int = 8
    quiet_from: int | None = None
    quiet_until: int | None = None


def mail_time(now: datetime, habits: Habits) -> datetime:
    """When what happens now is written to the person, in UTC."""
    local = now.astimezone(habits.zone)
    if habits.digest == Digest.HOURLY:
        local = _full_hour(now).astimezone(habits.zone)
    elif habits.digest == Digest.DAILY:
        local = _next(local, habits.daily_hour)
    return after_quiet(local, habits)


def after_quiet(moment: datetime, habits: Habits) -> datetime:
    """This moment, or the end of the quiet hours that it lies in, in UTC."""
    local = moment.astimezone(habits.zone)
    if _is_quiet(local, habits):
        assert habits.quiet_until is not None
        local = _next(local, habits.quiet_until)
    return local.astimezone(UTC)


def _full_hour(now: datetime) -> datetime:
    utc = now.astimezone(UTC)
    return utc.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)


def _next(local: datetime, hour: int) -> datetime:
    """The next time that the clocks where the person is show this hour."""
    today = local.replace(hour=hour, minute=0, second=0, microsecond=0)
    if today > local:
        return today
    return today + timedelta(days=1)  # of the calendar: the zone says how long that day is


def _is_quiet(local: datetime, habits: Habits) -> bool:
    start, end = habits.quiet_from, habits.quiet_until
    if start is None or end is None or start == end:
        return False
    if start < end:
        return start <= local.hour < end
    return local.hour >= start or local.hour < end
