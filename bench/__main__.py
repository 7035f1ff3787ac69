"""Run all benchmarks or the named benchmarks, print their figures with bounds, and fail if a bound is broken.

By default, each benchmark takes at most about three minutes. `--full` runs the sizes that the docs promise. `tiny`,
`intercode`, `coverage`, `upgrade`, `scale` and `recall` run only if they are named. Each benchmark runs in its own
process with its own servers, so that it does not affect the next benchmark.

Usage: python -m bench [--full] [NAME ...]
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

from bench.figures import CannotMeasure, Figure, describe_bounds, is_held
from bench.support.stage import prepared

RESULTS = Path(__file__).parent / "results"
# Each module has a function measure(). Modules are imported after the settings are configured.
MEASUREMENTS = {
    "pipeline": "runs.pipeline",
    "chaos": "runs.chaos",
    "hostile": "runs.hostile",
    "retrieval": "catalog.retrieval",
    "catalogue": "catalog.catalogue",
    "transfers": "study.transfers",
    "study": "study.study",
    "review": "review.review",
    "screen": "review.screen",
    "blinding": "review.blinding",
    "execution": "execution.execution",
    "alerts": "runs.alerts",
    "quality": "execution.quality",
    "batches": "runs.batches",
}
# Run only by name, because these benchmarks need additional software or an earlier release, or take many minutes.
ON_DEMAND = {
    "tiny": "runs.tiny",
    "intercode": "execution.intercode",
    "coverage": "study.coverage",
    "upgrade": "runs.upgrade",
    "scale": "study.scale",
    "recall": "catalog.recall",
}
# These benchmarks start their own servers.
OWN_STAGE = (
    "alerts",
    "review",
    "screen",
    "execution",
    "quality",
    "intercode",
    "tiny",
    "coverage",
    "upgrade",
)


def main(arguments: list[str]) -> int:
    names = [word for word in arguments if word != "--full"]
    if "--full" in arguments:
        os.environ["BENCH_FULL"] = "1"
    known = MEASUREMENTS | ON_DEMAND
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"There is no benchmark {unknown[0]!r}. Choose from {', '.join(known)}.")
        return 2
    if len(names) == 1 and len(arguments) == 1:
        return measure(names[0])
    # Start a new process for each benchmark, so that all modules read BENCH_FULL.
    ended = [
        subprocess.run([sys.executable, "-m", "bench", name], check=False).returncode
        for name in names or MEASUREMENTS
    ]
    return max(ended)


def measure(name: str) -> int:
    """Print a benchmark's table and write it to bench/results. Return 1 if the benchmark failed or could not run."""
    RESULTS.mkdir(exist_ok=True)
    try:
        with nullcontext() if name in OWN_STAGE else prepared():
            module = import_module(f"bench.{(MEASUREMENTS | ON_DEMAND)[name]}")
            figures: list[Figure] = module.measure()
    except CannotMeasure as why:
        print(f"{name} was not measured: {why}")
        return 1
    (RESULTS / f"{name}.json").write_text(json.dumps(figures, indent=2) + "\n")
    return print_table(name, figures)


def print_table(name: str, figures: list[Figure]) -> int:
    """Print a line for each figure. Return 1 if a figure is out of bounds or no figure has a bound."""
    print(f"\n{name}")
    width = max((len(row["what"]) for row in figures), default=0)
    for row in figures:
        value = "not measured" if row["value"] is None else f"{row['value']:.3f}"
        bounds = f"  {describe_bounds(row)}" if describe_bounds(row) else ""
        broken = "" if is_held(row) else "  BROKEN"
        note = f"  ({row['note']})" if row.get("note") else ""
        print(f"  {row['what']:<{width}}  {value:>12}{bounds}{broken}{note}", flush=True)
    broken_rows = [row["what"] for row in figures if not is_held(row)]
    if not any(describe_bounds(row) for row in figures):
        broken_rows.append("no figure has a bound")
    if broken_rows:
        print(f"{name} failed: {'; '.join(broken_rows)}.")
    return 1 if broken_rows else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
