"""Celery tasks for reviews, such as running background jobs, adding missed runs and expiring leases."""

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

# The parts of a large study's report that are computed ahead of page requests.
REPORT_PARTS = (EXECUTED, THREATS)


@shared_task(name="review.take_in_finished_runs")
def take_in_finished_runs() -> None:
    """Add finished runs that are missing from the review queue."""
    services.take_in_missed()


@shared_task(name="review.expire_leases")
def expire_leases() -> None:
    """Expire stale leases on items, resume interrupted transfers and delete unsubmitted text of finished items."""
    services.expire_leases()
    services.forget_scratches()
    jobs.carry_on()


@shared_task(name="review.carry_out_transfer")
def carry_out_transfer(transfer_id: int) -> None:
    """Run an import or export unless another worker is running it."""
    jobs.carry_out(transfer_id)


@shared_task(name="review.prepare_items")
def prepare_items() -> None:
    """Start requested runs that have not started, and open items whose run ended without a notification."""
    runs.start_asked(most=runs.SLICE)
    preparation.prepare_missed()


@shared_task(name="review.start_runs")
def start_runs(campaign_id: int) -> None:
    """Start the requested runs of a campaign. Runs that already started are not changed."""
    runs.start_asked(Campaign.objects.get(pk=campaign_id))


@shared_task(name="review.count_due")
def count_due() -> None:
    """Recount items whose scores changed and update the slow parts of reports, so that pages load fast."""
    tallies.count_all_due()
    for campaign in Campaign.objects.filter(kind=Campaign.Kind.STUDY):
        update_parts(campaign, *REPORT_PARTS)
