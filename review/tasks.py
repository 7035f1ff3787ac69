"""Background work of the reviews: what nobody told us of, and leases that ran out."""

from __future__ import annotations

from celery import shared_task

from review import preparing, services, tallies


@shared_task(name="review.take_in_finished_runs")
def take_in_finished_runs() -> None:
    """Put finished runs that were missed into the live queue."""
    services.take_in_missed()


@shared_task(name="review.expire_leases")
def expire_leases() -> None:
    """Take items back from reviewers who gave no sign of life."""
    services.expire_leases()


@shared_task(name="review.prepare_items")
def prepare_items() -> None:
    """Let items of studies be reviewed whose runs came to rest unnoticed."""
    preparing.prepare_missed()


@shared_task(name="review.count_due")
def count_due() -> None:
    """Count the items whose scores changed, so that whoever looks at a report finds little to do."""
    tallies.count_all_due()
