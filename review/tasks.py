"""Celery tasks of the reviews: sweeps for runs that were missed and leases that ran out, and background jobs."""

from __future__ import annotations

from celery import shared_task

from review import services
from review.campaigns.services import preparation, runs
from review.counting import tallies
from review.exchange import jobs
from review.models import Campaign
from review.report.kept_parts import update_parts
from review.report.parts.execution import EXECUTED
from review.report.threats.counts import THREATS


@shared_task(name="review.take_in_finished_runs")
def take_in_finished_runs() -> None:
    """Put finished runs that were missed into the live queue."""
    services.take_in_missed()


@shared_task(name="review.expire_leases")
def expire_leases() -> None:
    """Take items back from reviewers who gave no sign of life, and transfers up again of lost workers; forget
    what was typed for what is decided for good.
    """
    services.expire_leases()
    services.forget_scratches()
    jobs.carry_on()


@shared_task(name="review.carry_out_transfer")
def carry_out_transfer(transfer_id: int) -> None:
    """Import or export a file, as far as nobody else does."""
    jobs.carry_out(transfer_id)


@shared_task(name="review.prepare_items")
def prepare_items() -> None:
    """Start runs that were asked for and not started; let items be reviewed whose runs came to rest unnoticed."""
    runs.start_asked(most=runs.SLICE)
    preparation.prepare_missed()


@shared_task(name="review.start_runs")
def start_runs(campaign_id: int) -> None:
    """Start the runs that were asked for in a campaign; what was started before stays as it is."""
    runs.start_asked(Campaign.objects.get(pk=campaign_id))


@shared_task(name="review.count_due")
def count_due() -> None:
    """Count the items whose scores changed, and update the slow parts of reports, so that pages have little to do."""
    tallies.count_all_due()
    for campaign in Campaign.objects.filter(kind=Campaign.Kind.STUDY):
        update_parts(campaign, EXECUTED, THREATS)
