"""Draw a heat map of reviewers: how far each two agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

# From which coefficient on a cell is a step darker. The steps are even and carry no names such as
# "substantial": those are conventions that differ from field to field.
STEPS = (0.0, 0.2, 0.4, 0.6, 0.8)


@dataclass(frozen=True)
class Cell:
    """A pair's coefficient: `level` 0 (none, or below zero) to 5; `text` empty where the two have no joint item."""

    text: str
    level: int
    title: str


@dataclass(frozen=True)
class HeatRow:
    """One reviewer against all: a cell for each name, None against oneself."""

    name: str
    cells: Sequence[Cell | None]


@dataclass(frozen=True)
class Pair:
    """Two reviewers; `value` None where their coefficient is undefined."""

    a: str
    b: str
    value: float | None
    title: str


def level_of(value: float | None) -> int:
    """How dark a cell is: 0 for none or no better than chance, 5 from the highest step on."""
    return (
        0 if value is None else sum(value > step if step == 0 else value >= step for step in STEPS)
    )


def draw_heat(names: Sequence[str], pairs: Sequence[Pair]) -> list[HeatRow]:
    """Return one row per name, in the same order; each pair appears twice."""
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
