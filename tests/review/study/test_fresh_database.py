"""An export of each generated study, in each of three layouts, gives the same report in a database of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.review.exchange.files import run_all
from tests.review.study.fresh_database import fresh_database
from tests.review.study.made.shapes import STUDIES
from tests.review.study.test_recount import bring_in, report_of

pytestmark = pytest.mark.django_db(transaction=True)
FAST = ("two arms, three raters",)
LAYOUTS = ("jsonl", "csv", "json")
ROUNDING = 1e-12
# When it was made, and what was counted by then.
_OF_THE_MOMENT = ("/details/at", "/details/due")


def flat(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Every number, word and null of a report with its path; an empty list or object too."""
    if isinstance(value, Mapping) and value:
        for name, one in value.items():
            yield from flat(one, f"{path}/{name}")
    elif isinstance(value, (list, tuple)) and value:
        for place, one in enumerate(value):
            yield from flat(one, f"{path}/{place}")
    else:
        yield path, value


def is_equal(one: object, other: object) -> bool:
    """Equal but for the last digit of a sum, whose parts may stand in another order there."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= ROUNDING
    return one == other


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, id=name, marks=() if name in FAST else pytest.mark.slow)
        for name in STUDIES
    ],
)
def test_an_export_gives_the_same_report_in_a_fresh_database(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {layout: tmp_path / f"out.{layout}" for layout in LAYOUTS}
    database = f"fresh_{os.getpid()}"
    with fresh_database(database):
        bring_in(name, tmp_path)
        before = dict(flat(report_of(name, capsys)))
        for file in files.values():
            run_all(name, ("export_campaign", file))
    for layout, file in files.items():
        with fresh_database(database):
            run_all(name, ("import_items", file), ("import_scores", file))
            after = dict(flat(report_of(name, capsys)))
        differ = {
            path: (before.get(path, "nothing"), after.get(path, "nothing"))
            for path in before.keys() | after.keys()
            if not is_equal(before.get(path, "nothing"), after.get(path, "nothing"))
            and path not in _OF_THE_MOMENT
        }
        with capsys.disabled():
            print(f"{name} as {layout}: {len(after):,} compared, {len(differ)} differ")
        assert not differ, layout
