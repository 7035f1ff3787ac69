"""Background tasks of the catalogue: jobs that users wait for, and periodic work in small batches."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from time import monotonic

from celery import shared_task
from django.utils.translation import gettext as _

from catalog.calibration.services import carry_out_fit, score_labels
from catalog.curation.services import compare_entries, recheck_versions
from catalog.evidence.services import delete_unserved_runs, is_served
from catalog.evidence.tasks import probe_sandbox, run_all_cases, run_cases
from catalog.exchange.services import carry_out_import
from catalog.exchange.tasks import write_offline_copy
from catalog.models import CaseRun, Job
from catalog.retrieval.tasks import embed_missing
from core.leased_jobs import Claim, LostLease, claim, dispatch_unheld

__all__ = [
    "carry_out_job",
    "curate",
    "curate_a_little",
    "embed_missing",
    "probe_sandbox",
    "run_all_cases",
    "run_cases",
    "write_offline_copy",
]

logger = logging.getLogger(__name__)

AT_A_TIME = 10  # items of each kind per batch
LONGEST = 4.0  # seconds per task run, so that the task does not block the worker's thread

CARRIED_OUT: Mapping[str, Callable[[Claim[Job], Job], None]] = {
    Job.Kind.FIT: carry_out_fit,
    Job.Kind.IMPORT: carry_out_import,
}


@shared_task(name=Job.TASK)
def carry_out_job(pk: int) -> None:
    """Run the job unless another worker already runs it. An error fails the job and is shown to its user."""
    held = claim(Job, pk)
    if held is None:
        return
    job = Job.objects.select_related("by").get(pk=pk)
    work = CARRIED_OUT.get(job.kind)
    if work is None:
        held.end(Job.State.FAILED, trouble=_("This kind of job does not exist."))
        return
    try:
        work(held, job)
    except LostLease:
        logger.warning("Another worker has taken over job %s", pk)
    except Exception as error:
        held.end(Job.State.FAILED, trouble=str(error)[:2000])
        raise


@shared_task(name="catalog.curate")
def curate() -> None:
    """Enqueue jobs that no worker has claimed, and run periodic work for a few seconds."""
    dispatch_unheld(Job)
    # Without a sandbox worker, messages would accumulate in the broker.
    if is_served():
        dispatch_unheld(CaseRun, limit=AT_A_TIME)
    delete_unserved_runs()
    begun = monotonic()
    while curate_a_little() and monotonic() - begun < LONGEST:
        pass


def curate_a_little() -> bool:
    """Score labels, find near-duplicates and repeat checks. Return whether work may remain."""
    done = (
        score_labels(limit=AT_A_TIME),
        compare_entries(limit=AT_A_TIME),
        recheck_versions(limit=AT_A_TIME),
    )
    return max(done) == AT_A_TIME
