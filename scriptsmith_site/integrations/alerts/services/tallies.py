"""Counts of a source's requests and alerts by result, and its latest success and error."""

from __future__ import annotations

from collections.abc import Mapping

from django.db.models import F
from django.utils import timezone

from scriptsmith_site.models import AlertSource, AlertTally

REFUSED = "refused: "


def count_up(source_id: int, counts: Mapping[str, int]) -> None:
    """Add to a source's counts, in sorted order to prevent deadlocks."""
    now = timezone.now()
    for what, count in sorted(counts.items()):
        if count:
            rows = AlertTally.objects.filter(source=source_id, what=what[:120])
            if not rows.update(count=F("count") + count, last_at=now):
                AlertTally.objects.bulk_create(
                    [AlertTally(source_id=source_id, what=what[:120])], ignore_conflicts=True
                )
                rows.update(count=F("count") + count, last_at=now)


def note_success(source_id: int) -> None:
    """Record that a request from the source was processed."""
    AlertSource.objects.filter(pk=source_id).update(last_success_at=timezone.now())


def note_refusal(source_id: int, reason: str) -> None:
    """Record that a request from the source was rejected."""
    AlertSource.objects.filter(pk=source_id).update(
        last_error_at=timezone.now(), last_error=reason[:300]
    )
    count_up(source_id, {f"{REFUSED}{reason}": 1})
