"""Read the tables of scripts in tests/cases."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[2] / "cases"


def read_cases(name: str) -> dict[str, list[tuple[str, str]]]:
    """Return the expected result and the script of each row, by section."""
    sections: dict[str, list[tuple[str, str]]] = {}
    rows: list[tuple[str, str]] = []
    for line in (FOLDER / name).read_text("utf-8").splitlines():
        if line.startswith("["):
            rows = sections[line.strip("[]")] = []
        elif "\t" in line:
            expected, _, written = line.partition("\t")
            rows.append((expected, written.replace("\\n", "\n").replace("\\t", "\t")))
    return sections
