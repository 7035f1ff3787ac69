"""Tests that compare agreement on real judgments by three raters with reference values. They are skipped if the data
set is missing.
"""

from __future__ import annotations

import json
from collections import defaultdict
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from review.study import Agreement, agreement_of
from tests.review.exchange.files import run_command
from tests.review.study.test_agreement import Rows, counts_of

FILE = Path(__file__).resolve().parents[4] / "shared" / "data" / "nl2bash_judgements_tellina.jsonl"

pytestmark = pytest.mark.skipif(not FILE.exists(), reason="the set of judgements is not here")


def read_rows(raters: str) -> list[tuple[str, dict[int, int]]]:
    """Return each item's statement and values."""
    found = []
    with FILE.open(encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            given = {place: row[f"rater_{name}"] for place, name in enumerate(raters)}
            asked = {place: value for place, value in given.items() if value is not None}
            found.append((row["statement"], asked))
    return found


def agreement(raters: str) -> Agreement:
    """Return the agreement clustered by statement. Each statement has three items."""
    statements: dict[str, list[dict[int, int]]] = defaultdict(list)
    for statement, row in read_rows(raters):
        statements[statement].append(row)
    return agreement_of(counts_of(*statements.values()))


def test_the_first_two_raters() -> None:
    found = agreement("ab")
    (pair,) = found.pairs

    assert (found.items, pair.items) == (1641, 1641)
    assert [
        *(pair.percent, pair.cohen_kappa, pair.linear_kappa, pair.weighted_kappa),
        *(pair.strict_percent, pair.strict_kappa, pair.partial_percent, pair.partial_kappa),
    ] == pytest.approx(
        [0.793419, 0.632395, 0.669339, 0.701201, 0.900670, 0.695451, 0.831810, 0.651703], abs=1e-6
    )
    assert [
        *(found.alpha_nominal, found.krippendorff_alpha, found.alpha_interval)
    ] == pytest.approx([0.630727, 0.685719, 0.700213], abs=1e-6)


def test_bootstrap_equals_published_intervals() -> None:
    found = agreement("ab")

    assert found.statements == 547
    assert (found.low, found.high) == pytest.approx((0.640, 0.730), abs=5e-3)
    assert found.pairs[0].intervals["cohen_kappa"] == pytest.approx([0.586, 0.677], abs=5e-3)
    rows: Rows = [row for _statement, row in read_rows("ab")]
    found = agreement_of(counts_of(*([row] for row in rows)))

    assert (found.low, found.high) == pytest.approx((0.651, 0.722), abs=3e-3)
    assert found.pairs[0].intervals["cohen_kappa"] == pytest.approx([0.597, 0.666], abs=3e-3)


def imported_agreement_of(raters: str) -> dict[str, Any]:
    """Import these raters' scores and return the reported agreement on the scripts."""
    maps = [f"--map=reviewer:{name}=rater_{name.lower()}" for name in raters]
    assert run_command("import_items", "Judgements", FILE) == 0
    assert run_command("import_scores", "Judgements", FILE, *maps) == 0
    out = StringIO()
    call_command("study_report", "Judgements", "--json", stdout=out)
    script: dict[str, Any] = json.loads(out.getvalue())["agreement"]["script"]
    return script


@pytest.mark.slow
@pytest.mark.django_db
def test_the_report_has_every_reference_value_of_the_judgements() -> None:
    script = imported_agreement_of("ABC")

    alphas = [script[name] for name in ("krippendorff_alpha", "alpha_nominal", "alpha_interval")]
    assert alphas == pytest.approx([0.663273, 0.608778, 0.667747], abs=1e-6)
    assert script["percent"] == pytest.approx(2068 / 2995)
    pairs = {pair["a"] + pair["b"]: pair for pair in script["pairs"]}
    assert {name: pair["items"] for name, pair in pairs.items()} == {
        "AB": 1641,
        "AC": 677,
        "BC": 677,
    }
    measures = ("percent", "cohen_kappa", "linear_kappa", "weighted_kappa")
    for name, expected in (
        ("AB", [0.793419, 0.632395, 0.669339, 0.701201]),
        ("AC", [0.576071, 0.345122, 0.314903, 0.281454]),
        ("BC", [0.555391, 0.319991, 0.323422, 0.326617]),
    ):
        assert [pairs[name][key] for key in measures] == pytest.approx(expected, abs=1e-6)
    others = ("strict_percent", "strict_kappa", "partial_percent", "partial_kappa")
    assert [pairs["AB"][key] for key in others] == pytest.approx(
        [0.900670, 0.695451, 0.831810, 0.651703], abs=1e-6
    )
