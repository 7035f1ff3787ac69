"""The fitted model: trees as arrays, probabilities that mean what they say, a threshold."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from catalog.relevance import Candidate, judge_all, shipped_model
from catalog.relevance.comparison import compare
from catalog.relevance.fitted.forest import Forest
from catalog.relevance.fitted.model import read_model
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
    """Statements about services, in other words than the entries; a third has no answer."""
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
