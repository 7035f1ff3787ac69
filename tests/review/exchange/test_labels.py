"""Labels of studies made elsewhere: imported by command, reported as JSON and as a page, figure by figure."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Iterable
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from pipeline.types import Arm, Verdict
from review.models import Campaign
from review.study import FIGURES, Criterion, GivenScore, Judged, Stage
from review.study.figures import NOT_PART
from tests.first_cases import first_cases
from tests.review.exchange.files import run_all, write_lines
from tests.review.report.test_report_pages import rows_of
from tests.review.study.golden import ROWS
from tests.review.study.plain import (
    OPEN,
    final,
    plain_alpha,
    plain_figure,
    plain_items,
    plain_percent,
)
from tests.review.study.test_golden_case import PARTIAL, STRICT

ClientFor = Callable[[User], Client]
pytestmark = pytest.mark.django_db


def report_of(name: str) -> dict[str, Any]:
    out = StringIO()
    call_command("study_report", name, "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


# --- The golden case ------------------------------------------------------------------------------------------------


def write_golden(folder: Path) -> tuple[Path, Path]:
    """Of the right scripts 60 pass a test and 5 do not; of the wrong ones 70 fail it, 8 pass, and 10 were not run."""
    items: list[dict[str, object]] = []
    scores: list[dict[str, object]] = []
    right, wrong = iter([1.0] * 60 + [0.0] * 5), iter([0.0] * 70 + [True] * 8 + [None] * 10)
    for verdict, script, feedback, refined, times in ROWS:
        for _time in range(times):
            name = f"case-{len(items)}"
            execution = next(right if script == 2 else wrong)
            items.append(
                {
                    "id": name,
                    "statement": f"Do {name}",
                    "verdict": verdict.value,
                    "execution": execution,
                }
            )
            given = {"script": script, "feedback": feedback, "refined": refined}
            scores.append({"item": name, "reviewer": "expert", **given})
    return (
        write_lines(folder / "items.jsonl", *items),
        write_lines(folder / "scores.jsonl", *scores),
    )


@pytest.fixture
def golden(tmp_path: Path) -> Campaign:
    items, scores = write_golden(tmp_path)
    run_all("Golden", ("import_items", items), ("import_scores", scores))
    return Campaign.objects.get(name="Golden")


def test_the_golden_case_imported_as_labels_gives_every_figure_as_json(golden: Campaign) -> None:
    document = report_of("Golden")
    (arm,) = document["configurations"]
    assert (document["items"], arm["name"]) == (153, "imported")
    for criterion, shares in (("strict", STRICT), ("partial", PARTIAL)):
        for name, share in shares.items():
            figure = arm[criterion][name]
            found = (figure["numerator"], figure["denominator"])
            assert found == share, (criterion, name)
            assert figure["value"] == share[0] / share[1]
    execution = arm["strict"]["execution_agreement"]
    assert (execution["numerator"], execution["denominator"]) == (60 + 70, 143)
    net, partial = arm["strict"]["net"], arm["partial"]["net"]
    assert [net["value"], net["low"], net["high"]] == pytest.approx([0.098, 0.040, 0.155], abs=5e-4)
    assert net["p_value"] == pytest.approx(0.0015, abs=5e-5)
    assert partial["p_value"] == pytest.approx(0.021, abs=5e-4)
    # What is only a label is never handed out, and whoever gave it can't sign in.
    assert not golden.items.exclude(state="closed", places=0).exists()
    expert = User.objects.get(username="expert")
    assert not (expert.is_active or expert.has_usable_password())


@pytest.mark.parametrize(("criterion", "shares"), [("strict", STRICT), ("partial", PARTIAL)])
def test_the_page_shows_the_imported_golden_case(
    golden: Campaign,
    manager: User,
    client_for: ClientFor,
    criterion: str,
    shares: dict[str, tuple[int, int]],
) -> None:
    address = f"/campaigns/{golden.pk}/report/?criterion={criterion}"
    rows = rows_of(client_for(manager).get(address).content.decode())
    for name, (numerator, denominator) in shares.items():
        value = f"{100 * numerator / denominator:{'+' if name == 'net' else ''}.1f}"
        assert f"{numerator} / {denominator} {value} %" in rows[name]
    assert ("130 / 143" in rows["execution_agreement"]) == (criterion == "strict")


# --- Other studies --------------------------------------------------------------------------------------------------

REVIEWERS = ("Ana", "Bo", "Cy", "Dee")
ARMS = ("imported", "peer")


class Label(NamedTuple):
    """One item as somebody else's study has it: by reviewer and stage, and what was settled."""

    verdict: str
    execution: float | None
    given: dict[tuple[str, str], int]
    settled: dict[str, int]


def draw_label(chance: random.Random) -> Label:
    people = chance.sample(REVIEWERS, chance.choice((0, 1, 1, 2, 2, 3, 4)))
    given = {
        (person, stage.value): value
        for person in people
        for stage in Stage
        if (value := chance.choice((0, 1, 2, 2, None))) is not None
    }
    settled = {"script": chance.randrange(3)} if chance.random() < 0.1 else {}
    verdict = chance.choice(("correct", "incorrect", "incorrect", "unknown", ""))
    return Label(verdict, chance.choice((None, 0.0, 0.5, 1.0)), given, settled)


def judge(label: Label) -> Judged:
    scores = tuple(
        GivenScore(reviewer=REVIEWERS.index(person), stage=Stage(stage), value=value)
        for (person, stage), value in label.given.items()
    )
    return Judged(
        scores=scores,
        adjudicated={(Stage(stage), Arm.MODEL): value for stage, value in label.settled.items()},
        verdict=Verdict(label.verdict) if label.verdict else None,
        execution=label.execution,
    )


def write_study(folder: Path, labels: dict[tuple[str, str], Label], chance: random.Random) -> None:
    """Items as CSV, scores as JSONL in any order: a row for each reviewer, and one for what was settled."""
    with (folder / "items.csv").open("w", newline="", encoding="utf-8-sig") as file:
        table = csv.writer(file)
        table.writerow(["id", "statement", "configuration", "verdict", "execution"])
        for (name, arm), label in labels.items():
            table.writerow([name, f'Say "{name}", twice', arm, label.verdict, label.execution])
    rows: list[dict[str, object]] = []
    for (name, arm), label in labels.items():
        about = {"item": name, "configuration": arm}
        for person in {person for person, _stage in label.given}:
            own = {stage: label.given.get((person, stage.value)) for stage in Stage}
            rows.append({**about, "reviewer": person, **own})
        for stage, value in label.settled.items():
            settled = {"record": "adjudication", "reviewer": "Judge", "stage": stage}
            rows.append({**about, **settled, "value": value})
    chance.shuffle(rows)
    write_lines(folder / "scores.jsonl", *rows)


@pytest.mark.slow
@pytest.mark.parametrize("seed", first_cases(1, [1, 2, 3]))
def test_any_study_has_the_figures_of_the_plain_definitions(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    labels = {(f"case-{n}", arm): draw_label(chance) for n in range(40) for arm in ARMS}
    write_study(tmp_path, labels, chance)
    run_all(
        "Other",
        ("import_items", tmp_path / "items.csv"),
        ("import_scores", tmp_path / "scores.jsonl"),
    )
    document = report_of("Other")
    known = {key: one for key, one in labels.items() if _is_known(one)}
    assert {arm["name"] for arm in document["configurations"]} == set(ARMS)
    for arm in document["configurations"]:
        ones = plain_items(
            [judge(one) for (_id, name), one in known.items() if name == arm["name"]]
        )
        unresolved = sum(final(one, Stage.SCRIPT, Criterion.STRICT) == OPEN for one in ones)
        assert arm["strict"]["first_pass_accuracy"]["unresolved"] == unresolved
        for criterion in Criterion:
            for figure in FIGURES:
                found = arm[criterion.value][figure.name]
                is_part = found["reason"] != NOT_PART
                expected = plain_figure(figure.name, ones, criterion) if is_part else (0, 0)
                assert (found["numerator"], found["denominator"]) == expected, figure.name
                assert (found["value"] is None) == (expected[1] == 0)
    _check_agreement(document["agreement"], known.values())


def _is_known(label: Label) -> bool:
    """Whether the files say anything of the item but its statement."""
    return bool(label.verdict or label.given or label.settled or label.execution is not None)


def _check_agreement(found: dict[str, Any], labels: Iterable[Label]) -> None:
    for stage in Stage:
        rows = [
            {
                REVIEWERS.index(person): value
                for (person, of), value in one.given.items()
                if of == stage.value
            }
            for one in labels
        ]
        assert found[stage.value]["percent"] == pytest.approx(float(plain_percent(rows) or 0))
        for name, metric in (("alpha_nominal", "nominal"), ("krippendorff_alpha", "ordinal")):
            expected = plain_alpha(rows, metric)
            assert found[stage.value][name] == pytest.approx(float(expected or 0))
