"""Tests that each generated study has the same report in a fresh database, after an export in each of three layouts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.fresh_database import fresh_database
from tests.review.exchange.files import run_all
from tests.review.study.test_recount import bring_in, report_of, studies

pytestmark = pytest.mark.django_db(transaction=True)
SLOW = ("two arms, three raters", "few of everything")
LAYOUTS = ("jsonl", "csv", "json")
# The times of the report and the import, and the number of items counted by then.
_OF_THE_MOMENT = ("/details/at", "/details/due", "/threats/at", "/threats/rubric/versions/0/at")


def differing(
    one: object, other: object, *, within: float = 1e-12
) -> dict[str, tuple[object, object]]:
    """Return the differences by path. The last digits of sums are ignored, because they depend on the order of
    terms."""
    before, after = dict(_flat(one)), dict(_flat(other))
    pairs = {
        path: (before.get(path, "nothing"), after.get(path, "nothing"))
        for path in before.keys() | after.keys()
    }
    return {path: pair for path, pair in pairs.items() if not _is_equal(*pair, within)}


def _flat(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """Yield every number, string and null of a report with its path, and empty lists and objects."""
    if isinstance(value, Mapping) and value:
        for name, one in value.items():
            yield from _flat(one, f"{path}/{name}")
    elif isinstance(value, (list, tuple)) and value:
        for place, one in enumerate(value):
            yield from _flat(one, f"{path}/{place}")
    else:
        yield path, value


def _is_equal(one: object, other: object, within: float) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= within
    return one == other


@pytest.mark.parametrize("name", studies((), SLOW))
def test_an_export_gives_the_same_report_in_a_fresh_database(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Use a database without the study to prove that the report needs only rows that exports contain."""
    files = {layout: tmp_path / f"out.{layout}" for layout in LAYOUTS}
    database = f"fresh_{os.getpid()}"
    with fresh_database(database):
        bring_in(name, tmp_path)
        before = report_of(name, capsys)
        for file in files.values():
            run_all(name, ("export_campaign", file))
    for layout, file in files.items():
        with fresh_database(database):
            run_all(name, ("import_items", file), ("import_scores", file))
            found = differing(before, report_of(name, capsys))
        assert found.keys() <= set(_OF_THE_MOMENT), (layout, found)
