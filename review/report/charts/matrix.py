"""A 2 x 2 table that compares the assessor with the experts: passed or flagged, and right or wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

STEPS = (0.05, 0.15, 0.3, 0.5)


class Counts(NamedTuple):
    """The numbers of scored items that the assessor passed or flagged."""

    passed_right: int
    passed_wrong: int
    flagged_right: int
    flagged_wrong: int


@dataclass(frozen=True)
class MatrixCell:
    """One of the four cells. `level` is the shade, from 0 to 4, for the cell's share of all items."""

    key: str
    count: int
    share: float | None
    level: int
    agrees: bool


def draw_matrix(counts: Counts) -> dict[str, MatrixCell]:
    """Return the four cells by name. Without items, `share` is None."""
    total = sum(counts)
    return {
        name: MatrixCell(
            key=name.replace("_", "-"),
            count=count,
            share=count / total if total else None,
            level=sum(count / total >= step for step in STEPS) if total else 0,
            agrees=name in ("passed_right", "flagged_wrong"),
        )
        for name, count in counts._asdict().items()
    }
