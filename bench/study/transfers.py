"""Measure import and export: rows per second, and memory growth."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.figures import Figure, figure, machine, size, slowness
from review.exchange.importing.importer import SLICE

ITEMS = size(full=100_000, quick=20_000)
SCORES = size(full=1_000_000, quick=100_000)
CAMPAIGN = "Measured"
LEAST_RATE = 5_000  # rows per second
MOST_MEMORY = 150  # maximum growth in MB, for any file size

# Run a command in a separate process, and report its time and memory growth in MB. Reset the kernel's peak after Django
# is loaded, because the peak includes earlier use (see clear_refs in proc(5)).
_CHILD = """
import json, re, sys, time
from pathlib import Path
import django
django.setup()
from django.core.management import call_command
from django.db import connection
def memory(name):
    return int(re.search(name + r":\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) / 1024
connection.ensure_connection()
Path("/proc/self/clear_refs").write_text("5")
before, began = memory("VmRSS"), time.perf_counter()
call_command(*sys.argv[1:])
print(json.dumps([time.perf_counter() - began, memory("VmHWM") - before]))
"""


def measure() -> list[Figure]:
    """Import items, import their scores, and export the study."""
    with tempfile.TemporaryDirectory() as folder:
        few, items, scores, out = (
            Path(folder) / name
            for name in ("few.jsonl", "items.jsonl", "scores.jsonl", "out.jsonl")
        )
        _write_items(few, max(ITEMS // 10, 2 * SLICE))
        _write_items(items, ITEMS)
        _write_scores(scores)
        small = _run("import_items", "Small", few)
        item_time, item_memory = _run("import_items", CAMPAIGN, items)
        again_time, _again_memory = _run("import_items", CAMPAIGN, items)
        score_time, score_memory = _run("import_scores", CAMPAIGN, scores)
        small_out = _run("export_campaign", "Small", Path(folder) / "few-out.jsonl")
        out_time, out_memory = _run("export_campaign", CAMPAIGN, out)
        written = sum(1 for _line in out.open("rb"))
    return [
        figure("items in, rows/s", ITEMS / item_time, least=LEAST_RATE / slowness()),
        figure("memory for few items, MB", small[1]),
        figure("memory for all items, MB", item_memory, most=MOST_MEMORY),
        # For any number of slices, two slices are in memory at a time.
        figure("memory for all items / for few", item_memory / small[1], most=1.5),
        figure("the same items again, rows/s", ITEMS / again_time),
        figure("scores in, rows/s", SCORES / score_time),
        figure("memory for all scores in, MB", score_memory, most=MOST_MEMORY),
        figure("everything out, records/s", written / out_time),
        figure("memory for few items out, MB", small_out[1]),
        figure("memory for everything out, MB", out_memory, most=MOST_MEMORY),
        machine(),
    ]


def _run(*arguments: object) -> tuple[float, float]:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, *map(str, arguments)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    seconds, megabytes = json.loads(done.stdout.splitlines()[-1])
    return seconds, megabytes


def _write_items(path: Path, count: int) -> None:
    with path.open("w") as file:
        for number in range(count):
            row = {
                "id": f"case-{number:06}",
                "statement": f"Delete files older than {number} days below /srv/exports/{number}",
                "script": f"#!/usr/bin/env bash\nfind /srv/exports/{number} -mtime +{number} -delete\n",
            }
            file.write(json.dumps(row) + "\n")


def _write_scores(path: Path) -> None:
    """Write `SCORES` scores, spread evenly over the items. A row contains up to three stages of one reviewer."""
    rows, left = 0, SCORES
    with path.open("w") as file:
        while left > 0:
            item, reviewer = rows % ITEMS, rows // ITEMS
            given = dict(zip(("script", "feedback", "refined"), (0, 1, 2), strict=True))
            given = dict(list(given.items())[: min(3, left)])
            row = {"item": f"case-{item:06}", "reviewer": f"expert-{reviewer}", **given}
            file.write(json.dumps(row) + "\n")
            rows, left = rows + 1, left - len(given)
