"""Background work of the reviews: what nobody told us of, and leases that ran out."""

from __future__ import annotations

from celery import shared_task

from review import services


@shared_task(name="review.take_in_finished_runs")
def take_in_finished_runs() -> None:
    """Put finished runs that were missed into the live queue."""
    services.take_in_missed()


@shared_task(name="review.expire_leases")
def expire_leases() -> None:
    """Take items back from reviewers who gave no sign of life."""
    services.expire_leases()
