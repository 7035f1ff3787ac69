"""Runs every measurement and prints what it found beside what is held."""

from __future__ import annotations

import json
from pathlib import Path

from bench import pipeline
from bench.stage import prepared

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    with prepared():
        figures = pipeline.measure()
    width = max(len(figure["what"]) for figure in figures)
    for figure in figures:
        print(f"{figure['what']:<{width}}  {figure['value']:>8.3f}  held: {figure['held']}")
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
