"""Tests that column roles are guessed from names and values and can be corrected, for items and scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from review.campaigns.services import rules
from review.exchange import jobs
from review.exchange.rows.column_guess import guess_items, guess_kind, guess_scores
from review.models import Campaign, Score, Transfer


def columns(*rows: dict[str, object]) -> tuple[list[str], dict[str, list[object]]]:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return names, {name: [row.get(name) for row in rows] for name in names}


def test_columns_of_items() -> None:
    intercode = [
        {"Question": "List the files older than 3 days", "Answer": "find . -mtime +3"},
        {"Question": "Show the load of this host", "Answer": "uptime"},
    ]
    scored = [{**row, "candidate": "ls", "reward": "0.5"} for row in intercode]
    unnamed = [
        {"a": "List the files of the home folder", "b": "ls -l ~ | sort", "c": "correct"},
        {"a": "Show how much memory is free", "b": "free -m | head -2", "c": "unknown"},
    ]
    models = [{"task": "x", "model": "large"}, {"task": "y", "model": "small"}]
    for rows, expected in (
        (intercode, "Question=statement Answer=script"),
        # Next to a candidate, the answer is the reference.
        (scored, "Question=statement Answer=reference candidate=script reward=execution"),
        # The product's own column names are always accepted, even in uppercase.
        ([{"ID": "1", "Statement": "x", "Script": "y"}], "ID=id Statement=statement Script=script"),
        # A verdict column must contain verdicts.
        ([{"statement": "x", "judge": "wrong"}], "statement=statement judge="),
        ([{"statement": "x", "judge": "incorrect"}], "statement=statement judge=verdict"),
        # The names are not informative, so the values decide.
        (unnamed, "a=statement b=script c=verdict"),
        # IDs must be unique.
        ([{"nr": "1", "task": "x"}, {"nr": "1", "task": "y"}], "nr= task=statement"),
        (models, "task=statement model=configuration"),
    ):
        names, samples = columns(*rows)
        guessed = guess_items(names, samples)
        assert " ".join(f"{name}={one.role}" for name, one in guessed.items()) == expected
        assert guess_kind(names, samples) == "items"


def test_columns_of_reviewers_beside_items() -> None:
    names = ["statement", "script", "anna", "ben", "ben_refined", "final"]
    rows = (("x", "ls", "2", "", "1", "2"), ("y", "ls", "0", "1", "", "0"))
    names, samples = columns(*(dict(zip(names, row, strict=True)) for row in rows))
    guesses = guess_items(names, samples)
    assert {name: (one.role, one.person) for name, one in guesses.items() if one.person} == {
        "anna": ("reviewer:script", "anna"),
        "ben": ("reviewer:script", "ben"),
        "ben_refined": ("reviewer:refined", "ben"),
        "final": ("adjudicated:script", "final"),
    }
    assert (guesses["anna"].by_values, guesses["final"].by_values) == (True, False)
    # A single column of numbers is a reviewer's column only if its name says so.
    names, samples = columns({"statement": "x", "tries": "2"}, {"statement": "y", "tries": "1"})
    assert guess_items(names, samples)["tries"].role == ""


def test_columns_of_scores() -> None:
    names, samples = columns({"nr": "7", "annotator": "anna", "score": "2"})
    assert guess_kind(names, samples) == "scores"
    found = {name: one.role for name, one in guess_scores(names, samples).items()}
    assert found == {"nr": "item", "annotator": "reviewer", "score": "value"}
    names, samples = columns({"id": "7", "rater_a": 2, "rater_b": None, "adjudicated": 1})
    assert guess_kind(names, samples) == "scores"
    people = {name: one.person for name, one in guess_scores(names, samples).items()}
    assert people == {
        "id": "",
        "rater_a": "rater_a",
        "rater_b": "rater_b",
        "adjudicated": "adjudicated",
    }


TABLE = (
    "Question,Answer,candidate,reward,anna,ben\n"
    "List the files older than 3 days,find . -mtime +3,find . -mtime 3,0.5,0,1\n"
    "Show the load of this host,uptime,uptime,1,2,\n"
    "Print the name of this host,hostname,uname,0,0,0\n"
)


@pytest.fixture(autouse=True)
def _own_folder(settings: object, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "files"


@pytest.mark.slow
@pytest.mark.django_db
def test_a_campaign_begins_with_a_file_whose_scores_follow_its_items(boss: Client) -> None:
    file = SimpleUploadedFile("study.csv", TABLE.encode())
    answer = boss.post(
        "/campaigns/new/", {"name": "From a table", "preset": "standard", "file": file}
    )
    campaign = Campaign.objects.get(name="From a table")
    # The campaign has a default rubric to start from.
    assert "partially correct" in campaign.rubrics.get().text
    page = boss.get(answer["Location"])
    guessed = {one.name: one.role for one in page.context["columns"]}
    assert guessed == {
        "Question": "statement",
        "Answer": "reference",
        "candidate": "script",
        "reward": "execution",
        "anna": "reviewer:script",
        "ben": "reviewer:script",
    }
    text = page.text
    assert "guessed from its name" in text and "guessed from its values" in text
    assert "2 columns have scores" in text
    assert page.context["look"].rows[0].cells[:2] == [
        *("List the files older than 3 days", "find . -mtime +3")
    ]
    chosen = {f"role-{place}": one.role for place, one in enumerate(page.context["columns"])}
    # The name of the other reviewer is Ben.
    answer = boss.post(answer["Location"], {**chosen, "person-5": "benno", "import": "1"})
    items = Transfer.objects.get()
    jobs.carry_out(items.pk)
    # The score columns are not reported as ignored.
    assert not items.lines.exists()
    page = boss.get(answer["Location"]).text
    assert "are imported next" in page and "Continue setup" in page
    scores = Transfer.objects.get(kind="scores")
    jobs.carry_out(scores.pk)
    scores.refresh_from_db()
    assert (scores.state, scores.kept, scores.refused) == ("done", 3, 0)
    given = Score.objects.order_by("pk").values_list("reviewer__username", "value")
    assert sorted(given) == [("anna", 0), ("anna", 0), ("anna", 2), ("benno", 0), ("benno", 1)]
    assert campaign.items.count() == 3


@pytest.mark.django_db
def test_a_file_that_can_not_be_read_makes_no_campaign(boss: Client) -> None:
    answer = boss.post(
        "/campaigns/new/",
        {"name": "Empty", "preset": "standard", "file": SimpleUploadedFile("x.csv", b"")},
    )
    assert answer.status_code == 422
    assert answer.context["form"].errors["file"]
    assert "Choose the file again" in answer.text
    assert not Campaign.objects.filter(name="Empty").exists()


@pytest.mark.django_db
def test_what_is_guessed_wrong_is_left_out(boss: Client, manager: User) -> None:
    campaign = rules.create_campaign("Study", by=manager)
    file = SimpleUploadedFile("study.csv", TABLE.encode())
    url = boss.post(f"/campaigns/{campaign.pk}/import/", {"file": file, "look": "1"})["Location"]
    columns = boss.get(url).context["columns"]
    kept = {"Question": "statement", "candidate": "script"}
    chosen = {f"role-{place}": kept.get(one.name, "") for place, one in enumerate(columns)}
    page = boss.post(url, {**chosen, "look": "1"})
    assert page.context["look"].heads == ["statement", "script"]
    assert [one.role for one in page.context["columns"]] == ["statement", "", "script", "", "", ""]
    boss.post(url, {**chosen, "import": "1"})
    jobs.carry_out(Transfer.objects.get().pk)
    assert Transfer.objects.count() == 1
    assert campaign.items.count() == 3


@pytest.mark.django_db
def test_preview_lists_and_guesses_paths_of_nested_records(boss: Client, manager: User) -> None:
    campaign = rules.create_campaign("Study", by=manager)
    rows = [{"id": 1, "data": {"prompt": "List"}, "annotations": [{"result": [{"text": ["ls"]}]}]}]
    file = SimpleUploadedFile("x.json", json.dumps(rows).encode())
    url = boss.post(f"/campaigns/{campaign.pk}/import/", {"file": file, "look": "1"})["Location"]
    found = {one.name: one.role for one in boss.get(url).context["columns"]}
    assert found == {"id": "id", "data.prompt": "statement", "annotations.result.text": ""}
    chosen = {"role-0": "id", "role-1": "statement", "role-2": "script", "import": "1"}
    boss.post(url, chosen)
    jobs.carry_out(Transfer.objects.get().pk)
    assert campaign.items.get().run.drafts.get().script == "ls"
