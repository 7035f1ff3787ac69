"""Days of the reader, for the filters of both logs."""

from __future__ import annotations

from datetime import MAXYEAR, date, datetime, time, timedelta

from django.utils import timezone


def start_of(day: date, *, later: int = 0) -> datetime:
    """The first moment of a day in the reader's time zone, or of the one so many days later."""
    # At the ends of the calendar there is no day before or after, nor a time in another zone.
    day = min(max(day, date(2, 1, 1)), date(MAXYEAR - 1, 12, 31))
    return timezone.make_aware(datetime.combine(day + timedelta(days=later), time.min))
