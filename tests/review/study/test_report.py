"""Tests that the report has exactly the documented keys and only JSON values."""

from __future__ import annotations

import json
from typing import Any

from review.study import FIGURES, ArmCounts, Stage, study_report
from tests.review.study.golden import count_patterns, golden_items
from tests.review.study.test_agreement import counts_of

SHARE = {"numerator", "denominator", "value", "low", "high"}
FIGURE = SHARE | {"open", "unresolved", "pending", "bounds", "deff", "reason"}
AGREEMENT = {
    *("items", "statements", "percent", "cohen_kappa", "linear_kappa", "weighted_kappa"),
    *("kappa_basis", "krippendorff_alpha", "alpha_nominal", "alpha_interval", "ac1", "ac2"),
    *("fleiss_kappa", "low", "high", "intervals", "no_interval", "undefined", "pairs", "leniency"),
}
PAIR = {
    *("a", "b", "items", "percent", "cohen_kappa", "linear_kappa", "weighted_kappa"),
    *("strict_percent", "strict_kappa", "partial_percent", "partial_kappa", "intervals"),
}


def report() -> dict[str, Any]:
    counts = counts_of(*([{7: 2, 9: value % 3}] for value in range(12)))
    arms = [
        ArmCounts(name="second", patterns=count_patterns(golden_items()), is_demo=True),
        ArmCounts(name="first", patterns={}),
    ]
    return study_report("Study", arms, {Stage.SCRIPT: counts}, names={7: "zoe", 9: "adam"})


def test_the_report_has_the_documented_keys() -> None:
    found = report()

    assert set(found) == {"campaign", "items", "configurations", "agreement"}
    assert [arm["name"] for arm in found["configurations"]] == ["first", "second"]
    for arm in found["configurations"]:
        assert set(arm) - {"demo"} == {"name", "strict", "partial", "agreement"}
        for criterion in ("strict", "partial"):
            assert list(arm[criterion]) == [figure.name for figure in FIGURES]
            assert all(set(figure) >= FIGURE for figure in arm[criterion].values())
            assert "p_value" in arm[criterion]["net"]
    assert list(found["agreement"]) == ["script", "feedback", "refined"]
    for stage in found["agreement"].values():
        assert set(stage) == AGREEMENT
        assert all(set(pair) == PAIR for pair in stage["pairs"])


def test_the_report_is_json_with_names_and_reasons() -> None:
    found = report()
    (pair,) = found["agreement"]["script"]["pairs"]
    unscored = found["agreement"]["refined"]

    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert [arm.get("demo") for arm in found["configurations"]] == [None, True]
    assert (pair["a"], pair["b"], pair["items"]) == ("adam", "zoe", 12)
    assert (unscored["items"], unscored["krippendorff_alpha"], unscored["pairs"]) == (0, None, [])
    assert unscored["undefined"] == "no item with two scores"
