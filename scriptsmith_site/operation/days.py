"""Days in the reader's time zone, for the filters of both logs."""

from __future__ import annotations

from datetime import MAXYEAR, date, datetime, time, timedelta

from django.utils import timezone


def start_of(day: date, *, later: int = 0) -> datetime:
    """Return the start of a day in the reader's time zone, or of the day `later` days after it."""
    # Clamp to dates that have neighbors, because time zone conversion needs them.
    day = min(max(day, date(2, 1, 1)), date(MAXYEAR - 1, 12, 31))
    return timezone.make_aware(datetime.combine(day + timedelta(days=later), time.min))
