"""Results of the sandbox tests of the starter catalogue and the demo, with the quality of the tests.

Runs the product with its demo until everything is measured. The product starts with the shipped results, so only
changed texts are measured. Delete the file to measure everything again.
"""

from __future__ import annotations

import time

from bench.support.product import running

LOOK_AGAIN = 10.0  # seconds, because no row shows activity between two steps of a run
LOOKS = 3  # checks without work in a row


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
