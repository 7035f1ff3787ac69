"""Build the sandbox test results of the starter catalogue and the demo, with the quality of the tests.

The product runs with its demo until all tests are measured. The product starts with the shipped results, so it measures
only changed scripts and tests. Delete the file to measure all tests again.
"""

from __future__ import annotations

import time

from bench.support.product import running

# Seconds between checks. No row shows activity between two steps of a run, so check a few times.
LOOK_AGAIN = 10.0
LOOKS = 3  # number of consecutive idle checks after which the product is idle


def build() -> str:
    with running(SCRIPTSMITH_DEMO="True", SCRIPTSMITH_EMBEDDER="minilm"):
        from catalog.evidence.services.shipped import FILE, write_shipped  # needs Django

        _wait_until_idle()
        number = write_shipped()
    return f"{number} results, {FILE.stat().st_size:,} bytes"


def _wait_until_idle() -> None:
    from catalog.models import CaseRun
    from core.leased_jobs import UNFINISHED
    from pipeline.models import Run

    idle = 0
    while idle < LOOKS:
        time.sleep(LOOK_AGAIN)
        runs = Run.objects.filter(state__in=[Run.State.QUEUED, Run.State.RUNNING])
        is_idle = not (runs.exists() or CaseRun.objects.filter(state__in=UNFINISHED).exists())
        idle = idle + 1 if is_idle else 0
