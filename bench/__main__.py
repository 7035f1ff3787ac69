"""Runs the measurements, all or those named, and prints what they found beside what is held.

python -m bench [NAME ...]
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

from bench import chaos, pipeline, retrieval, study, transfers
from bench.figures import Figure
from bench.stage import prepared

RESULTS = Path(__file__).parent / "results"
MEASUREMENTS: dict[str, Callable[[], list[Figure]]] = {
    "pipeline": pipeline.measure,
    "chaos": chaos.measure,
    "retrieval": retrieval.measure,
    "study": study.measure,
    "transfers": transfers.measure,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in MEASUREMENTS]
    if unknown:
        print(f"There is no measurement {unknown[0]!r}; there are {', '.join(MEASUREMENTS)}.")
        return 2
    RESULTS.mkdir(exist_ok=True)
    with prepared():
        for name in names or MEASUREMENTS:
            figures = MEASUREMENTS[name]()
            print_table(name, figures)
            (RESULTS / f"{name}.json").write_text(json.dumps(figures, indent=2) + "\n")
    return 0


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
