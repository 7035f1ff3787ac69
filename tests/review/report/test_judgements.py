"""A real set of judgements by three raters, imported and reported; skipped where the set is absent."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from tests.review.study.test_judgements import FILE
from tests.review.transfers.files import run_command

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not FILE.exists(), reason="the set of judgements is not here"),
]


def test_the_report_has_every_reference_value_of_the_judgements() -> None:
    raters = [f"--map=reviewer:{name}=rater_{name.lower()}" for name in "ABC"]
    assert run_command("import_items", "Judgements", FILE) == 0
    assert run_command("import_scores", "Judgements", FILE, *raters) == 0
    out = StringIO()
    call_command("study_report", "Judgements", "--json", stdout=out)
    script: dict[str, Any] = json.loads(out.getvalue())["agreement"]["script"]

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
