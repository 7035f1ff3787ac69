"""The export for a statistician: one line a score, with what a mixed model asks for, and no texts."""

from __future__ import annotations

import csv
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db.models import F

from review.campaigns.services import adjudication
from review.models import Campaign, Score
from tests.people import make_person
from tests.review.exchange.files import run_command
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


@pytest.mark.slow
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
    # Statements and texts are told apart, and not told.
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
        # Eight scores in a first sitting, four in a second.
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


@pytest.mark.slow
def test_a_formula_in_a_name_stays_a_text(study: Campaign, tmp_path: Path) -> None:
    case = study.cases.order_by("pk")[0]
    case.external_id = "=1+1"
    case.save(update_fields=["external_id"])
    assert {one["item"] for one in lines_of(study, tmp_path)} >= {"'=1+1"}
