"""Runs the measurements, all or those named, and prints what they found beside what is held.

    python -m bench [NAME ...]

`tiny`, `intercode`, `coverage`, `upgrade`, `scale` and `recall` run only where they are named.

Each runs in a process and on servers of its own, so that none leaves rows or memory to the next.
"""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path

from bench.figures import CannotMeasure, Figure
from bench.support.stage import prepared

RESULTS = Path(__file__).parent / "results"
# Each module has a function measure(); it is loaded once the settings stand.
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
# Only where they are named: two install and build what they need first, three take minutes, one needs a release before.
ON_DEMAND = {
    "tiny": "runs.tiny",
    "intercode": "execution.intercode",
    "coverage": "study.coverage",
    "upgrade": "runs.upgrade",
    "scale": "study.scale",
    "recall": "catalog.recall",
}
# These start what they need themselves.
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


def main(names: list[str]) -> int:
    known = MEASUREMENTS | ON_DEMAND
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"There is no measurement {unknown[0]!r}; there are {', '.join(known)}.")
        return 2
    if len(names) == 1:
        return measure(names[0])
    ended = [
        subprocess.run([sys.executable, "-m", "bench", name], check=False).returncode
        for name in names or MEASUREMENTS
    ]
    return max(ended)


def measure(name: str) -> int:
    """Print one measurement's table and write its figures to bench/results; 1 where it has a bound and broke it.

    What cannot be measured on this machine is said in a line, and broke nothing.
    """
    RESULTS.mkdir(exist_ok=True)
    try:
        with nullcontext() if name in OWN_STAGE else prepared():
            module = import_module(f"bench.{(MEASUREMENTS | ON_DEMAND)[name]}")
            figures: list[Figure] = module.measure()
    except CannotMeasure as why:
        print(f"{name}: {why}")
        return 0
    print_table(name, figures)
    (RESULTS / f"{name}.json").write_text(json.dumps(figures, indent=2) + "\n")
    return 0 if not hasattr(module, "holds") or module.holds(figures) else 1


def print_table(name: str, figures: list[Figure]) -> None:
    """One line for each figure, as soon as its measurement is through."""
    print(f"\n{name}")
    width = max((len(figure["what"]) for figure in figures), default=0)
    for figure in figures:
        value = "not measured" if figure["value"] is None else f"{figure['value']:.3f}"
        held = f"  held: {figure['held']}" if figure["held"] else ""
        note = f"  ({figure['note']})" if figure.get("note") else ""
        print(f"  {figure['what']:<{width}}  {value:>12}{held}{note}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
