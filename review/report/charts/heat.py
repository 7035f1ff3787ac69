"""A heat map of the agreement between each pair of reviewers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# The coefficients at which a cell becomes one step darker. The steps are evenly spaced and have no names such as
# "substantial", because such conventions differ between fields.
STEPS = (0.0, 0.2, 0.4, 0.6, 0.8)


@dataclass(frozen=True)
class Cell:
    """A pair's coefficient. `level` ranges from 0 (unknown or not positive) to 5.

    `text` is empty if the pair has no shared items.
    """

    text: str
    level: int
    title: str


@dataclass(frozen=True)
class HeatRow:
    """A reviewer's row, with one cell for each reviewer. The reviewer's own cell is None."""

    name: str
    cells: Sequence[Cell | None]


@dataclass(frozen=True)
class Pair:
    """Two reviewers and their coefficient. `value` is None if the coefficient is undefined."""

    a: str
    b: str
    value: float | None
    title: str


def level_of(value: float | None) -> int:
    """Return the shade of a cell, from 0 (unknown or no better than chance) to 5 (at or above the highest step)."""
    return (
        0 if value is None else sum(value > step if step == 0 else value >= step for step in STEPS)
    )


def draw_heat(names: Sequence[str], pairs: Sequence[Pair]) -> list[HeatRow]:
    """Return one row per name, in the order of `names`. Each pair appears in two rows."""
    found: Mapping[frozenset[str], Pair] = {frozenset((one.a, one.b)): one for one in pairs}
    return [
        HeatRow(
            name,
            [
                None if name == other else _cell(found.get(frozenset((name, other))))
                for other in names
            ],
        )
        for name in names
    ]


def _cell(pair: Pair | None) -> Cell:
    if pair is None:
        return Cell("", 0, "")
    text = "–" if pair.value is None else f"{pair.value:.2f}".replace("-", "−")
    return Cell(text, level_of(pair.value), pair.title)
