"""Tests for the report's execution tables from the counts, from the export alone, and after an import."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.cache import cache
from django.test import Client

from catalog.models import Execution
from review.counting.tallies import note_due
from review.evidence import services
from review.models import Campaign, Item
from review.report.services import make_document
from tests.first_cases import first_cases
from tests.review.evidence.conftest import store, write_cases
from tests.review.exchange.files import run_all, run_command, write_lines
from tests.review.maker import ClientFor
from tests.review.study.recount.execution import execution_of
from tests.review.study.recount.records import read_study
from tests.review.study.test_fresh_database import differing

pytestmark = pytest.mark.django_db


def tables_of(campaign: Campaign) -> list[dict[str, Any]]:
    found: Any = make_document(campaign)["execution"]
    return list(found["configurations"])


def records_of(campaign: str, file: Path) -> list[dict[str, Any]]:
    run_all(campaign, ("export_campaign", file))
    return [json.loads(line) for line in file.read_text().splitlines()]


def recount(campaign: str, file: Path) -> list[dict[str, Any]]:
    records = records_of(campaign, file)
    return execution_of(read_study(file.read_text().splitlines()), records)


def assert_same(ours: Any, theirs: Any) -> None:
    """Compare numbers with a tolerance of 1e-9 and all other values exactly."""
    assert not differing(ours, theirs, within=1e-9)


def change_and_label(study: Campaign, reviewer: User, second_reviewer: User) -> None:
    """Add labels of both reviewers, undo one, and make the reviewers change one set in different ways."""
    right_failed, wrong_passed = list(study.items.order_by("pk"))[1:3]
    for person, reason in ((reviewer, "case_wrong"), (second_reviewer, "interpretation")):
        services.label(right_failed, stage="script", reason=reason, by=person)
    services.label(wrong_passed, stage="script", reason="script_wrong", by=reviewer)
    for reason in ("output_too_strict", "output_too_strict"):
        services.label(wrong_passed, stage="refined", reason=reason, by=second_reviewer)
    sha256 = _set_of(right_failed)
    services.strike(right_failed, sha256=sha256, what="1.3", reason="No.", by=reviewer)
    last = services.strike(right_failed, sha256=sha256, what="2", reason="No.", by=second_reviewer)
    assert last.merged is not None
    drafts = right_failed.run.drafts.order_by("number")
    store(drafts[0].sha256, last.merged, "pp")


def _set_of(item: Item) -> str:
    return write_cases(item.run.action.statement).sha256


def test_only_verdicts_enter_and_the_rest_is_counted_beside(study: Campaign) -> None:
    script, refined = tables_of(study)
    strict = script["strict"]
    assert (
        strict["execution_accuracy"]["numerator"],
        strict["execution_accuracy"]["denominator"],
    ) == (2, 3)
    assert strict["confusion"] == {
        "right": {"passed": 1, "failed": 1, "no_verdict": 0},
        "wrong": {"passed": 1, "failed": 0, "no_verdict": 1},
        "open": {"passed": 0, "failed": 0, "no_verdict": 0},
    }
    assert strict["checks"] == {
        "failed": 1, "passed": 10, "unstable": 2, "unsupported": 3,
    }  # fmt: skip
    assert strict["reasons"]["not_said"] == strict["differ"] == 2
    assert script["partial"]["confusion"]["right"]["no_verdict"] == 1
    assert refined["strict"]["execution_accuracy"]["denominator"] == 3
    assert refined["strict"]["checks"]["to_run"] == 4


@pytest.mark.slow
def test_a_recount_of_the_export_gives_the_same_tables(
    study: Campaign, reviewer: User, second_reviewer: User, tmp_path: Path
) -> None:
    assert_same(recount("Study", tmp_path / "a.jsonl"), tables_of(study))
    change_and_label(study, reviewer, second_reviewer)
    ours, theirs = recount("Study", tmp_path / "b.jsonl"), tables_of(study)
    assert_same(ours, theirs)
    # The test that both reviewers excluded does not count. The refined script has not run in the remaining tests.
    assert theirs[0]["strict"]["reasons"]["case_wrong"] == 0
    assert theirs[0]["strict"]["confusion"]["right"] == {"passed": 2, "failed": 0, "no_verdict": 0}
    assert theirs[1]["strict"]["checks"]["to_run"] == 2 + 4


@pytest.mark.slow
@pytest.mark.parametrize("ending", first_cases(1, ["jsonl", "csv", "json"]))
def test_an_import_of_the_export_gives_an_equal_report(
    ending: str, study: Campaign, reviewer: User, second_reviewer: User, tmp_path: Path
) -> None:
    change_and_label(study, reviewer, second_reviewer)
    before, file = tables_of(study), tmp_path / f"out.{ending}"
    run_all("Study", ("export_campaign", file))
    # Simulate a different machine, where no test has run.
    Execution.objects.all().delete()
    for times in (1, 2):
        run_all("Again", ("import_items", file), ("import_scores", file))
        after = tables_of(Campaign.objects.get(name="Again"))
        assert [one["strict"] for one in after] == [one["strict"] for one in before], times
        assert [one["partial"] for one in after] == [one["partial"] for one in before]
    assert set(Execution.objects.values_list("imported", flat=True)) == {True}
    assert Execution.objects.count() == 8


def test_what_was_run_here_goes_before_what_a_file_says(study: Campaign, tmp_path: Path) -> None:
    records = records_of("Study", tmp_path / "out.jsonl")
    before = tables_of(study)
    for one in records:
        if one["record"] == "execution":
            for check in one["checks"]:
                check["state"] = "passed"
            one["last_at"] = "2199-01-01T00:00:00+00:00"
    file = write_lines(tmp_path / "all_well.jsonl", *records)
    run_all("Study", ("import_scores", file))
    assert Execution.objects.filter(imported=True).exists()
    assert tables_of(study) == before


def test_a_bad_row_is_refused_with_its_reason(
    study: Campaign, reviewer: User, second_reviewer: User, tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    change_and_label(study, reviewer, second_reviewer)
    records = records_of("Study", tmp_path / "out.jsonl")
    rows = {one["record"]: one for one in records[::-1]}
    foreign = write_cases("Something that nobody here asked for")
    foreign_set = {"case_set": foreign.sha256, "content": foreign.content, "is_revision": False}
    models = (Execution, services.CaseRevision)
    counts = [model.objects.count() for model in models]
    bad: list[tuple[str, dict[str, object], str]] = [
        ("case_set", {"content": {"format": 1}}, "cases: Field required"),
        ("case_set", {"case_set": "0" * 64}, "is not the hash of these tests"),
        ("case_set", foreign_set, "no item in the study has this statement"),
        ("execution", {"case_set": "0" * 64}, "no test suite has this hash"),
        ("execution", {"checks": []}, "no results found"),
        ("execution", {"checks": [{"case": 1, "check": 9, "state": "passed"}]}, "one result for each"),
        ("execution", {"document": {"worlds": [{"seen": 3}]}}, "worlds.0.title"),
        ("execution", {"state": "verified"}, "'verified' is not one of passed"),
        ("case_revision", {"root": "x"}, "is not a SHA-256 hash"),
        ("case_revision", {"item": "nobody"}, "the study has no item with this id"),
        ("execution_label", {"label": "because"}, "'because' is not one of case_wrong"),
        ("execution_label", {"stage": "feedback"}, "is not one of script, refined"),
    ]  # fmt: skip
    for number, (kind, changed, complaint) in enumerate(bad):
        file = write_lines(tmp_path / f"bad-{number}.jsonl", rows[kind] | changed)
        assert run_command("import_scores", "Study", file) == 2, complaint
        assert complaint in capsys.readouterr().err
        assert [model.objects.count() for model in models] == counts, complaint


def test_long_table_has_test_results(study: Campaign, reviewer: User, tmp_path: Path) -> None:
    services.label(study.items.order_by("pk")[1], stage="script", reason="case_wrong", by=reviewer)
    file = tmp_path / "long.csv"
    assert run_command("export_campaign", "Study", file, "--format", "long") == 0
    with file.open(newline="") as lines:
        rows = {(row["item"], row["stage"], row["reviewer"]): row for row in csv.DictReader(lines)}
    row = rows["case-1", "script", reviewer.username]
    assert (row["cases_outcome"], row["checks_passed"], row["checks_failed"]) == (
        "failed",
        "3",
        "1",
    )
    assert row["execution_label"] == "case_wrong"
    assert rows["case-4", "script", reviewer.username]["cases_outcome"] == ""
    assert rows["case-1", "feedback", reviewer.username]["cases_outcome"] == ""


def test_each_number_leads_to_the_items_behind_it(
    study: Campaign, reviewer: User, as_manager: Client, as_reviewer: Client
) -> None:
    cache.clear()
    services.label(study.items.order_by("pk")[1], stage="script", reason="case_wrong", by=reviewer)
    page = as_manager.get(f"/campaigns/{study.pk}/report/").text
    assert "Execution accuracy in sandbox tests" in page and "intercode" not in page
    items = f"/campaigns/{study.pk}/report/items/?configuration={study.items.first().configuration.name}"
    for query, found in (
        ("execution=verdict", ["case-0", "case-1", "case-2"]),
        ("execution=passed&side=wrong", ["case-2"]),
        ("execution=differ&reason=case_wrong", ["case-1"]),
        ("execution=differ&reason=not_said", ["case-2"]),
        ("execution=no_verdict", ["case-3"]),
    ):
        shown = as_manager.get(f"{items}&stage=script&criterion=strict&{query}").text
        assert [
            name for name in (f"case-{n}" for n in range(5)) if f"of {name}<" in shown
        ] == found, query
    assert as_manager.get(f"{items}&stage=script&execution=verified").status_code == 422
    assert as_reviewer.get(f"{items}&stage=script&execution=passed").status_code == 403


def test_imported_results_are_a_figure_of_their_own(study: Campaign, as_manager: Client) -> None:
    for item, value in zip(study.items.order_by("pk"), (1.0, 0.67, 1.0), strict=False):
        Item.objects.filter(pk=item.pk).update(execution=value)
        note_due(study, [item.pk])
    found: Any = make_document(study)["execution"]
    (row,) = found["intercode"]
    assert (row["intercode"]["numerator"], row["intercode"]["denominator"]) == (2, 3)
    assert found["configurations"][0]["strict"]["execution_accuracy"]["denominator"] == 3
    cache.clear()
    page = as_manager.get(f"/campaigns/{study.pk}/report/").text
    assert "Imported results (intercode)" in page
    for table in (
        "execution-accuracy",
        "execution-confusion-1",
        "execution-reasons",
        "execution-intercode",
    ):
        text = as_manager.get(f"/campaigns/{study.pk}/report/tables/{table}.md")
        assert text.status_code == 200, table


def test_adjudicator_sees_results(study: Campaign, manager: User, client_for: ClientFor) -> None:
    item = study.items.order_by("pk")[1]
    page = client_for(manager).get(f"/campaigns/{study.pk}/adjudicate/{item.pk}/").text
    assert "Sandbox tests" in page and "check 1.3" in page
    assert page.count('id="execution"') == 1
