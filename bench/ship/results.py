"""Results of the starter catalogue's cases and the demo's, with the quality of the cases.

Runs the product with its demo until everything is measured. The product starts with the results that are shipped
already, so only those of changed texts are new: delete the file to measure everything again.
"""

from __future__ import annotations

import time

from bench.support.product import running

LOOK_AGAIN = 10.0  # seconds; between two steps of a run no row shows that it goes on
LOOKS = 3  # without work in a row


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
