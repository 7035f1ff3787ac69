"""Tests that the export for statistics has one line per score, the columns of a mixed model, and no texts."""

from __future__ import annotations

import csv
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db.models import F

from review.campaigns.services import adjudication
from review.models import Campaign, Score
from review.report.services import make_document
from tests.people import make_person
from tests.review.exchange.files import run_command, write_lines
from tests.review.maker import FEEDBACK, make_study
from tests.review.queue.test_studies import go_through

pytestmark = pytest.mark.django_db


@pytest.fixture
def study(manager: User, reviewer: User, second_reviewer: User) -> Campaign:
    campaign = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=4, overlap=2)
    go_through(campaign, reviewer, 0, 2, 1)
    go_through(campaign, second_reviewer, 1, 2, 2)
    first = campaign.items.order_by("pk")[0]
    judge = make_person("jo", "manager")
    adjudication.adjudicate(first, stage="refined", value=2, why="It finds them.", by=judge)
    return campaign


def lines_of(campaign: Campaign, folder: Path) -> list[dict[str, str]]:
    file = folder / "long.csv"
    assert run_command("export_campaign", campaign.name, file, "--format=long") == 0
    with file.open(newline="", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def test_each_score_is_a_line(study: Campaign, tmp_path: Path) -> None:
    lines = lines_of(study, tmp_path)
    assert len(lines) == Score.objects.count() == 24
    line = next(
        one
        for one in lines
        if (one["item"], one["reviewer"], one["stage"]) == ("case-0", "rita", "refined")
    )
    wanted = {
        **{"value": "1", "right_strict": "0", "right_partial": "1", "adjudicated": "2"},
        **{"arm": "model", "current": "1", "called_in": "0", "verdict": "incorrect"},
        **{"purpose": "real", "sham": "0", "overlap": "2", "own_feedback": "0"},
    }
    assert {name: line[name] for name in wanted} == wanted
    # Statements and texts have distinct identifiers, but their content is not exported.
    assert len({one["statement"] for one in lines}) == 4
    assert len({one["text"] for one in lines if one["stage"] == "script"}) == 4
    said = "".join(cell for one in lines for cell in one.values())
    assert "find /srv" not in said
    assert FEEDBACK not in said


@pytest.mark.slow
def test_a_sitting_has_quarters(study: Campaign, reviewer: User, tmp_path: Path) -> None:
    own = Score.objects.filter(reviewer=reviewer).order_by("at", "pk")
    begin = own[0].at
    for number, score in enumerate(own):
        # Eight scores in a first session, four in a second.
        place = number if number < 8 else number - 8
        Score.objects.filter(pk=score.pk).update(
            sitting_minutes=place, at=begin + timedelta(minutes=number + 60 * (number >= 8))
        )
    Score.objects.exclude(reviewer=reviewer).update(at=F("at"), sitting_minutes=None)
    found = [
        (one["sitting"], one["sitting_quarter"])
        for one in sorted(lines_of(study, tmp_path), key=lambda one: one["at"])
        if one["reviewer"] == reviewer.username
    ]
    first = [("1", quarter) for quarter in "11223344"]
    assert found == first + [("2", quarter) for quarter in "1234"]
    others = [one for one in lines_of(study, tmp_path) if one["reviewer"] != reviewer.username]
    assert {(one["sitting"], one["sitting_quarter"]) for one in others} == {("", "")}


def test_names_are_text_and_lines_say_blindness(study: Campaign, tmp_path: Path) -> None:
    case = study.cases.order_by("pk")[0]
    case.external_id = "=1+1"
    case.save(update_fields=["external_id"])
    Campaign.objects.filter(pk=study.pk).update(hides_verdict=False)
    study.refresh_from_db()
    lines = lines_of(study, tmp_path)
    assert {one["item"] for one in lines} >= {"'=1+1"}
    assert {one["blinding"] for one in lines} == {"not blind"}


def test_what_is_used_gives_the_figures_of_the_report(tmp_path: Path) -> None:
    """Use the selection described in docs/statistics.md, and each item's adjudicated score or majority."""
    base = {"feedback": "- No.", "refined": "ls -a\n", "script": "ls\n", "overlap": 2}
    kinds: dict[str, dict[str, object]] = {
        "plain": {"verdict": "correct"},
        "sham": {"verdict": "correct", "sham": True},
        "changed": {"verdict": "incorrect"},
        "seen": {"verdict": "incorrect", "overlap": 1},
        "retrieved": {"verdict": "correct", "made": "retrieved"},
        "settled": {"verdict": "correct"},
    }
    items = [{"id": name, "statement": name, **base, **more} for name, more in kinds.items()]
    early, late = "2026-03-01T09:00:00Z", "2026-03-01T10:00:00Z"

    def given(item: str, reviewer: str, value: int, **more: object) -> dict[str, object]:
        about = {"record": "score", "item": item, "reviewer": reviewer, "stage": "script"}
        return {**about, "value": value, "at": early, **more}

    scores = [
        *(given(item, who, 2) for item in ("plain", "sham", "retrieved") for who in "AB"),
        given("sham", "A", 0, stage="refined"),
        # wrong first, and right only after the feedback was shown
        *(given("changed", who, 0, current=False) for who in "AB"),
        *(given("changed", who, 2, at=late, blind=False) for who in "AB"),
        given("seen", "A", 0, visible={"verdict": True}),
        given("settled", "A", 0),
        given("settled", "B", 2),
        {**given("settled", "J", 2), "record": "adjudication", "comment": "It is right."},
    ]
    folder = tmp_path
    assert run_command("import_items", "S", write_lines(folder / "items.jsonl", *items)) == 0
    assert run_command("import_scores", "S", write_lines(folder / "scores.jsonl", *scores)) == 0
    campaign = Campaign.objects.get(name="S")
    lines = lines_of(campaign, folder)
    used = [one for one in lines if one["used"] == "1" and one["made"] != "retrieved"]
    by_item: dict[str, list[dict[str, str]]] = {}
    for line in (one for one in used if one["stage"] == "script"):
        by_item.setdefault(line["item"], []).append(line)
    right = [
        2 * int(own[0]["adjudicated"] == "2")
        if own[0]["adjudicated"]
        else 2 * sum(int(one["right_strict"]) for one in own) / len(own)
        for own in by_item.values()
    ]
    figure = make_document(campaign)["configurations"][0]["strict"]["first_pass_accuracy"]

    assert not [one for one in used if one["stage"] != "script"]
    assert (sum(one > 1 for one in right), len(right)) == (3, 4)
    assert (figure["numerator"], figure["denominator"]) == (3, 4)
    assert {one["blind"] for one in lines if one["item"] == "seen"} == {"0"}
    assert {one["blinding"] for one in lines} == {"blind"}
    assert {one["round"] for one in lines if one["stage"] == "refined"} == {"1"}
