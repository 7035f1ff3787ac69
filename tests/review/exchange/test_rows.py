"""Tests for what the import commands create, keep and reject from valid and invalid rows, and for the exit code."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from pipeline.models import Configuration, Run
from review.campaigns.services import states
from review.counting import tallies
from review.models import Adjudication, Campaign, Case, Item, Score, TallyDue
from tests.review.exchange.files import run_all, run_command, write_lines
from tests.review.maker import ClientFor, make_study
from tests.review.report.test_report_pages import rows_of
from tests.review.study.golden import ROWS
from tests.review.study.test_golden_case import PARTIAL, STRICT

pytestmark = pytest.mark.django_db
Err = pytest.CaptureFixture[str]


def test_each_kind_of_row_becomes_what_it_stands_for(tmp_path: Path, capsys: Err) -> None:
    flagged = {"verdict": "incorrect", "feedback": "- It looks elsewhere.\n- Use -path."}
    file = write_lines(
        tmp_path / "x.jsonl",
        {"id": "words", "statement": "Only words", "context": "An incident"},
        {"id": "label", "statement": "Only a verdict", "verdict": "unknown"},
        {"id": "all", "statement": "All", "script": "ls\n", "refined": "ls -a\n", "execution": 0.5}
        | flagged,
        {"id": "all", "statement": "All", "script": "ls -l\n", "configuration": "Other 1.5"},
        {"id": "dark", "statement": "Refined from nothing", "script": "ls\n", "refined": "ls -a\n"},
    )
    assert run_command("import_items", " Cases  here ", file, "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == {
        "campaign": " Cases  here ",
        **{"read": 5, "rows": 5, "kept": 5, "unchanged": 0, "refused": 0},
    }
    assert "line 5: feedback: the refined script has no feedback" in err
    campaign = Campaign.objects.get(name="Cases here")
    assert campaign.cases.get(external_id="words").action.incident == "An incident"
    assert set(campaign.cases.filter(items=None).values_list("external_id", flat=True)) == {"words"}
    label = campaign.items.get(case__external_id="label")
    assert (label.state, label.places, label.run.verdict) == ("closed", 0, "unknown")
    item = campaign.items.get(case__external_id="all", configuration__name="imported")
    assert (item.state, item.places, item.execution) == ("open", 1, 0.5)
    assert (item.run.origin, item.run.state, item.run.calls.count()) == ("imported", "done", 0)
    first, refined = item.run.drafts.order_by("number")
    assert (first.script, first.assessment.verdict) == ("ls\n", "incorrect")
    assert (refined.script, refined.feedback.points, refined.parent) == ("ls -a\n", 2, first)
    other = Configuration.objects.get(name="other-1-5")
    assert (other.title, other.preset) == ("Other 1.5", "imported")
    # The items share one row, because their keys are consecutive.
    assert TallyDue.objects.filter(campaign=campaign).count() == 1
    assert tallies.estimate_due(campaign) == 4


def test_the_same_is_unchanged_and_other_content_is_refused(tmp_path: Path, capsys: Err) -> None:
    row = {"id": "a", "statement": "List", "script": "ls\n"}
    file = write_lines(tmp_path / "x.jsonl", row, row)
    assert run_command("import_items", "Study", file) == 0
    assert "2 read: 1 imported, 1 unchanged, 0 rejected" in capsys.readouterr().err
    other = write_lines(
        tmp_path / "y.jsonl",
        {**row, "statement": "Another"},
        {**row, "script": "ls -l\n"},
        {**row, "context": "New"},
        row,
    )
    assert run_command("import_items", "Study", other) == 1
    err = capsys.readouterr().err
    assert err.count("[a]: id: this id already exists with another") == 3
    assert "4 read: 0 imported, 1 unchanged, 3 rejected" in err
    assert (Case.objects.count(), Item.objects.count(), Run.objects.count()) == (1, 1, 1)


def test_nothing_read_is_2_and_makes_no_campaign(tmp_path: Path, capsys: Err) -> None:
    for file in (
        write_lines(tmp_path / "a.jsonl", "{broken", {"id": "x"}),
        write_lines(tmp_path / "b.jsonl"),
        tmp_path,
        tmp_path / "nowhere",
    ):
        assert run_command("import_items", "Study", file) == 2
    good = write_lines(tmp_path / "c.jsonl", {"id": "a", "statement": "List"})
    assert run_command("import_items", "Study", good, "--map=nothing=x") == 2
    assert run_command("import_items", "Study", good, "--by=nobody") == 2
    assert run_command("import_items", "x" * 151, good) == 2
    assert run_command("import_scores", "Study", good) == 2
    assert not Campaign.objects.filter(kind="study").exists()


def test_import_needs_manager_and_open_study(tmp_path: Path, reviewer: User, manager: User) -> None:
    good = write_lines(tmp_path / "c.jsonl", {"id": "a", "statement": "List"})
    assert run_command("import_items", "Study", good, f"--by={reviewer.username}") == 2
    assert run_command("import_items", Campaign.objects.get(kind="live").name, good) == 2
    closed = make_study(by=manager, reviewers=[reviewer], items=1, name="Closed")
    states.move_campaign(closed, "closed", by=manager)
    assert run_command("import_items", "Closed", good) == 2
    assert run_command("import_items", "Study", good, f"--by={manager.username}") == 0
    assert Campaign.objects.get(name="Study").created_by == manager


@pytest.fixture
def imported(tmp_path: Path) -> Campaign:
    file = write_lines(
        tmp_path / "items.jsonl",
        {"id": "a", "statement": "List", "script": "ls\n", "feedback": "- no", "refined": "ls -a"},
        {"id": "b", "statement": "Arms", "script": "ls\n", "configuration": "one"},
        {"id": "b", "statement": "Arms", "script": "ls\n", "configuration": "two"},
        {"id": "c", "statement": "Words"},
    )
    assert run_command("import_items", "Study", file) == 0
    return Campaign.objects.get(name="Study")


def test_imported_scores_close_items(imported: Campaign, tmp_path: Path, reviewer: User) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(
        "item,reviewer,script,feedback,refined,comment,configuration\n"
        'a,rita,0,2,,"too, short",\n'
        "b,Expert A,1,,,,two\n"
        "c,Expert A,2,,,,\n",
        encoding="utf-8-sig",
    )
    assert run_command("import_scores", "Study", file) == 0
    item = imported.items.get(case__external_id="a")
    first = item.run.drafts.get(number=1)
    script, feedback = item.scores.order_by("pk")
    assert (script.value, script.draft, script.comment) == (0, first, "too, short")
    assert (feedback.value, feedback.feedback, feedback.draft) == (2, first.feedbacks.get(), None)
    assert (script.imported, script.blind, script.reviewer) == (True, True, reviewer)
    assert (item.done, item.state, item.places) == (1, "closed", 0)
    arms = imported.items.filter(case__external_id="b").order_by("configuration__name")
    assert [(arm.done, arm.state) for arm in arms] == [(0, "open"), (1, "closed")]
    expert = User.objects.get(username="Expert A")
    assert (expert.is_active, expert.has_usable_password()) == (False, False)
    assert imported.items.get(case__external_id="c").scores.get().draft is None


def test_bad_scores_are_refused_by_line(imported: Campaign, tmp_path: Path, capsys: Err) -> None:
    file = write_lines(
        tmp_path / "scores.jsonl",
        {"item": "a", "reviewer": "A", "script": 2},
        {"item": "a", "reviewer": "A", "script": 2},
        {"item": "a", "reviewer": "A", "script": 1},
        {"item": "a", "reviewer": "B", "script": 3},
        {"item": "a", "reviewer": "B", "script": 2, "refined": "two"},
        {"item": "nowhere", "reviewer": "B", "script": 2},
        {"item": "b", "reviewer": "B", "script": 2},
        {"reviewer": "B", "script": 2},
        {"item": "a", "script": 2},
        {"item": "a", "reviewer": "B\0", "script": 2},
        {"item": "a", "reviewer": "B", "script": 2, "arm": "expert"},
        {"item": "a", "reviewer": "C", "script": 0, "odd": 1},
        {"item": "a", "reviewer": "D", "script": ""},
    )
    assert run_command("import_scores", "Study", file) == 1
    err = capsys.readouterr().err
    for line, words in {
        3: "script already has the score 2 from this reviewer",
        4: "3 is not a score",
        5: "'two' is not a score",
        6: "the study has no item with this id",
        7: "name the configuration",
        8: "no item found",
        9: "no reviewer found",
        10: "NUL",
        11: "only be scored in the arm “model”",
    }.items():
        assert any(
            text.startswith(f"line {line}") and words in text for text in err.splitlines()
        ), line
    assert "line 12: odd: unrecognized column, ignored" in err
    assert "13 read: 2 imported, 2 unchanged, 9 rejected" in err
    assert list(Score.objects.values_list("reviewer__username", "value")) == [("A", 2), ("C", 0)]


def test_a_final_score_is_imported_with_who_settled_it(imported: Campaign, tmp_path: Path) -> None:
    file = write_lines(
        tmp_path / "wide.jsonl", {"id": "a", "script": "ls\n", "a": 0, "b": 2, "final": 1}
    )
    maps = ("--map=reviewer:A=a", "--map=reviewer:B=b", "--map=adjudicated:Judge=final")
    assert run_command("import_scores", "Study", file, *maps) == 0
    assert run_command("import_scores", "Study", file, *maps) == 0
    word = Adjudication.objects.get()
    assert (word.value, word.by.username, word.imported) == (1, "Judge", True)
    assert Score.objects.count() == 2


def write_golden(folder: Path) -> tuple[Path, Path]:
    """Write items and scores for the golden case and return the files.

    Of the correct scripts, 60 pass a test and 5 fail it. Of the wrong scripts, 70 fail it, 8 pass, and 10 were not run.
    """
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


def test_the_golden_case_imported_as_labels_gives_every_figure(
    golden: Campaign, manager: User, client_for: ClientFor
) -> None:
    """The results are the same in the command's JSON and on the page."""
    out = StringIO()
    call_command("study_report", "Golden", "--json", stdout=out)
    document = json.loads(out.getvalue())
    (arm,) = document["configurations"]
    assert (document["items"], arm["name"]) == (153, "imported")
    for criterion, shares in (("strict", STRICT), ("partial", PARTIAL)):
        address = f"/campaigns/{golden.pk}/report/?criterion={criterion}"
        rows = rows_of(client_for(manager).get(address).text)
        for name, (numerator, denominator) in shares.items():
            figure = arm[criterion][name]
            found = (figure["numerator"], figure["denominator"])
            assert found == (numerator, denominator), (criterion, name)
            assert figure["value"] == numerator / denominator
            value = f"{100 * numerator / denominator:.1f}%"
            if name == "net":
                value = f"+{value.replace('%', ' pp')}"
            assert f"{numerator}/{denominator} {value}" in rows[name]
        assert ("130/143" in rows["execution_agreement"]) == (criterion == "strict")
    execution = arm["strict"]["execution_agreement"]
    assert (execution["numerator"], execution["denominator"]) == (60 + 70, 143)
    net, partial = arm["strict"]["net"], arm["partial"]["net"]
    assert [net["value"], net["low"], net["high"]] == pytest.approx([0.098, 0.040, 0.155], abs=5e-4)
    assert net["p_value"] == pytest.approx(0.0015, abs=5e-5)
    assert partial["p_value"] == pytest.approx(0.021, abs=5e-4)
    # An item with only a label is never assigned, and its reviewer can't sign in.
    assert not golden.items.exclude(state="closed", places=0).exists()
    expert = User.objects.get(username="expert")
    assert not (expert.is_active or expert.has_usable_password())
