"""Tests for the fitted model's trees as arrays, calibrated probabilities and threshold."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from catalog.relevance import Candidate, judge_all, shipped_model
from catalog.relevance.comparison import compare
from catalog.relevance.fitted.forest import Forest
from catalog.relevance.fitted.model import ModelDocument, read_model, shipped_document, sigmoid
from catalog.relevance.judge import full_row, score_candidates
from catalog.relevance.training.fitting import (
    Asked,
    CrossValidationFold,
    Outcome,
    choose_threshold,
    fit,
    rank,
    write_forest,
)
from catalog.relevance.training.refitting import (
    LEAST_LABELS,
    MANY_LABELS,
    CandidateFeatures,
    TooFewLabels,
    check_enough,
    hold_out,
    refit,
)

SERVICES = [
    "nginx", "apache2", "cups", "sshd", "cron", "docker", "redis", "mysql", "ntpd", "chrony",
]  # fmt: skip
WORDS = {"restart": "bounce", "stop": "halt", "start": "launch", "enable": "activate"}


def test_trees_as_arrays_answer_as_they_were_grown() -> None:
    dice = np.random.default_rng(3)
    table = dice.normal(size=(400, 4))
    trees = HistGradientBoostingClassifier(max_iter=12, max_leaf_nodes=6).fit(
        table, table[:, 0] * table[:, 1] > table[:, 2]
    )
    names = ["a", "b", "c", "d"]
    forest = Forest.from_document(json.loads(json.dumps(write_forest(trees, names))))
    scores = forest.score([dict(zip(names, row, strict=True)) for row in table])
    assert scores == pytest.approx(trees.decision_function(table), abs=1e-3)


def test_a_forest_scores_no_rows() -> None:
    assert shipped_model().forest.score([]).tolist() == []


def test_the_shipped_model_knows_each_feature_and_no_other() -> None:
    model = shipped_model()
    statement, candidate = "restart nginx", Candidate(phrasing="x", script="y", cosine=0.5)
    [look] = score_candidates(statement, [candidate], model)
    row = full_row(statement, candidate, compare(statement, candidate), look, model)
    assert set(model.forest.features) == set(row)
    assert set(model.first_look) - set(look.row) == {"bias"}
    assert 0 < model.adapt_threshold < model.match_threshold < 1


def test_confidence_falls_with_rivals_and_rises_with_the_score() -> None:
    model = shipped_model()
    [low] = model.confidences([-2.0])
    [high] = model.confidences([2.0])
    beside = model.confidences([2.0, 1.9])
    assert 0 < low < high < 1
    assert beside[1] <= beside[0] < high


THRESHOLDS: list[tuple[list[tuple[float, bool]], float]] = [
    ([(0.9, True), (0.8, True), (0.4, False)], 0.8),
    ([(0.9, True)] * 9 + [(0.8, False), (0.7, True)], 0.7),
    ([(0.9, False), (0.8, False)], 1.0),
    ([], 1.0),
]


def test_the_threshold_is_the_least_that_is_precise_enough() -> None:
    for outcomes, threshold in THRESHOLDS:
        found = choose_threshold((Outcome(*outcome) for outcome in outcomes), wanted_precision=0.9)
        assert found == threshold, outcomes


@pytest.mark.slow
def test_a_model_is_fitted_to_labels_and_read_again() -> None:
    asked = list(questions())

    folds = [
        CrossValidationFold(asked[::2], asked[1::2]),
        CrossValidationFold(asked[1::2], asked[::2]),
    ]
    document, allowed = fit(asked, folds=folds, version="test-1", made={"from": "a test"})
    model = read_model(json.loads(json.dumps(document)))

    assert model.version == "test-1"
    best = [rank(one, model)[0] for one in asked if any(one.right)]
    assert sum(outcome.is_right for outcome in best) > 0.8 * len(best)
    [first, *_] = judge_all(asked[0].statement, asked[0].candidates, model)
    assert 0 <= first.judgement.confidence <= 1
    assert all(outcome.is_right for outcome in allowed if outcome.confidence > 0.9)


def questions() -> list[Asked]:
    """Return statements about services whose wording differs from the entries. A third of them have no answer."""
    dice = random.Random(11)
    found = []
    for number in range(120):
        verb, service = dice.choice(list(WORDS)), dice.choice(SERVICES)
        entries = [(other, name) for other in WORDS for name in dice.sample(SERVICES, 3)]
        entries = [entry for entry in entries if entry != (verb, service)]
        if number % 3:
            entries.append((verb, service))
        candidates = tuple(
            Candidate(
                phrasing=f"{other} {name}",
                script=f"systemctl {other} {name}",
                cosine=0.4 + 0.2 * (other == verb) + 0.3 * (name == service),
            )
            for other, name in entries
        )
        right = tuple(entry == (verb, service) for entry in entries)
        found.append(Asked(f"{WORDS[verb]} the {service} service", candidates, right))
    return found


@pytest.fixture
def document() -> ModelDocument:
    return {**shipped_document(), "calibration": {"bias": 0.0, "score": 1.0}}


def features(*pairs: tuple[float, bool]) -> list[CandidateFeatures]:
    """Return cases with these log-odds, each from a different statement."""
    return [
        CandidateFeatures(number, f"statement {number}", {"score": score}, is_match)
        for number, (score, is_match) in enumerate(pairs)
    ]


def promised(calibration: dict[str, float], score: float) -> float:
    return sigmoid(calibration["bias"] + calibration["score"] * score)


@pytest.mark.parametrize("times", [10, MANY_LABELS // 10], ids=["few labels", "many labels"])
def test_a_scoring_that_is_too_sure_promises_less(document: ModelDocument, times: int) -> None:
    # At log-odds of 3, the scoring predicts 95%, but 7 of 10 cases are matches. At -1, it predicts 27%, but 1 of 10 is.
    cases = features(
        *([(3.0, n < 7) for n in range(10)] + [(-1.0, n < 1) for n in range(10)]) * times
    )
    fitted = refit(cases, document, version="team-1", made={})
    assert fitted["version"] == "team-1"
    assert promised(fitted["calibration"], 3.0) == pytest.approx(0.7, abs=0.03)
    assert promised(fitted["calibration"], -1.0) == pytest.approx(0.1, abs=0.05)
    assert fitted["forest"] == document["forest"]


def test_labels_that_know_nothing_of_its_order_only_shift_it(document: ModelDocument) -> None:
    cases = features(*[(number % 7 - 3.0, number % 2 == 0) for number in range(140)])
    calibration = refit(cases, document, version="team-1", made={})["calibration"]
    assert calibration["score"] == 1.0
    mean = sum(promised(calibration, case.values["score"]) for case in cases if case.values) / 140
    assert mean == pytest.approx(0.5, abs=0.01)


def test_held_out_no_statement_knows_its_own_label(document: ModelDocument) -> None:
    same = [
        CandidateFeatures(number, "one statement", {"score": 2.0}, True) for number in range(40)
    ]
    others = [
        CandidateFeatures(100 + number, f"other {number}", {"score": 2.0}, number % 2 == 0)
        for number in range(200)
    ]

    folds = hold_out([*same, *others], document["calibration"])

    assert len({tuple(sorted(folds[case.key].items())) for case in same}) == 1
    without = promised(folds[0], 2.0)
    assert without == pytest.approx(0.5, abs=0.06)
    with_them = max(promised(calibration, 2.0) for calibration in folds.values())
    assert with_them > without


@pytest.mark.parametrize(
    "labels",
    [[True] * LEAST_LABELS, [False] * LEAST_LABELS, [True, False] * (LEAST_LABELS // 2 - 1), []],
    ids=["all matches", "no match", "one pair too few", "none"],
)
def test_too_little_is_refused(labels: list[bool]) -> None:
    with pytest.raises(TooFewLabels):
        check_enough(labels)
