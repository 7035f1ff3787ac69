"""A real set of judgements by three raters, imported and reported; skipped where the set is absent."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from tests.review.exchange.files import run_command
from tests.review.study.test_judgements import FILE

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not FILE.exists(), reason="the set of judgements is not here"),
]


def agreement_of(raters: str) -> dict[str, Any]:
    """What is reported of the scripts when these raters' scores were imported."""
    maps = [f"--map=reviewer:{name}=rater_{name.lower()}" for name in raters]
    assert run_command("import_items", "Judgements", FILE) == 0
    assert run_command("import_scores", "Judgements", FILE, *maps) == 0
    out = StringIO()
    call_command("study_report", "Judgements", "--json", stdout=out)
    script: dict[str, Any] = json.loads(out.getvalue())["agreement"]["script"]
    return script


@pytest.mark.slow
def test_two_raters_have_their_alphas_with_the_interval_of_the_bootstrap() -> None:
    script = agreement_of("AB")

    alphas = [script[name] for name in ("alpha_nominal", "krippendorff_alpha", "alpha_interval")]
    assert alphas == pytest.approx([0.630727, 0.685719, 0.700213], abs=1e-6)
    # Three items share each statement, and statements are drawn as a whole.
    assert script["statements"] == 547
    assert [script["low"], script["high"]] == pytest.approx([0.640, 0.730], abs=5e-3)
    assert (script["items"], script["cohen_kappa"], script["weighted_kappa"]) == pytest.approx(
        (1641, 0.632395, 0.701201), abs=1e-6
    )


@pytest.mark.slow
def test_the_report_has_every_reference_value_of_the_judgements() -> None:
    script = agreement_of("ABC")

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
