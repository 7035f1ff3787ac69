"""What the pipeline adds to the time its models take: wall time over the latencies on the critical path."""

from __future__ import annotations

import time

from bench.figures import Figure

LATENCY = 2.0  # seconds a call
# Write, describe, then likeness and difference side by side: what a script that passes waits for.
CALLS_ON_THE_PATH = 3
STATEMENT = "delete files older than 30 days in /var/tmp/exports"
REPEATS = 3


def measure() -> list[Figure]:
    """The best of a few runs alone, against a stand-in with a known latency, and its number of calls."""
    # Here and not above: these need the settings that the stage has set.
    from django.conf import settings

    from pipeline import execution, services
    from pipeline.models import Attempt
    from tests.standin_process import StandIn

    execution.model_client()  # loading the SDK is the worker's start, not a run's time
    ratios, calls = [], 0
    with StandIn("--latency", str(LATENCY)) as standin:
        settings.SCRIPTSMITH_DEMO_MODEL_URL = standin.url
        for _ in range(REPEATS):
            action = services.ask(STATEMENT, by=None)
            run = services.start_run(action, by=None, uses_retrieval=False, enqueue=False)
            began = time.monotonic()
            run = execution.run_to_end(run.pk)
            ratios.append((time.monotonic() - began) / (LATENCY * CALLS_ON_THE_PATH))
            assert run.state == "done", run.problem
            calls = Attempt.objects.filter(call__run=run).count()
    return [
        {
            "what": f"overhead of one run at {LATENCY:.0f} s a call",
            "value": min(ratios),
            "held": "at most 1.05",
        },
        {"what": "calls of a run that passes", "value": float(calls), "held": "4"},
    ]
