"""Tests for the contents of an export, and that a campaign has equal figures after its import."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection

from core.database.statistics import MANY
from review import services
from review.campaigns.services import adjudication, rules
from review.counting import tallies
from review.counting.counts import Counts, read_counts
from review.models import Assignment, Campaign
from tests.people import make_person
from tests.review.exchange.files import run_all, run_command, write_lines
from tests.review.maker import make_study
from tests.review.queue.test_studies import give, go_through

pytestmark = pytest.mark.django_db


def counts_of(name: str) -> Counts:
    """Return the counts of a campaign with one configuration."""
    campaign = Campaign.objects.get(name=name)
    tallies.recount(campaign)
    (counts,) = read_counts(campaign).values()
    # Imported scores are marked as given on another installation.
    counts.sums.pop("here", None)
    return counts


@pytest.fixture
def study(manager: User, reviewer: User, second_reviewer: User) -> Campaign:
    """Return four items with two reviewers: an adjudication, a skip, a changed score and a spreadsheet formula."""
    campaign = make_study(by=manager, reviewers=[reviewer, second_reviewer], items=4, overlap=2)
    first, second, third, fourth = campaign.items.order_by("pk")
    third.run.drafts.filter(number=1).update(script='=HYPERLINK("x")\r\n\'-1,\t"quoted"\n')
    services.give_back(
        services.claim_item(fourth, by=reviewer), state=Assignment.State.SKIPPED, why="=no idea"
    )
    for by, values in ((reviewer, (0, 2, 1)), (second_reviewer, (1, 2, 2))):
        services.claim_item(first, by=by)
        give(first, by, *values)
    services.claim_item(second, by=reviewer)
    give(second, reviewer, 0, 0, 0)
    go_through(campaign, second_reviewer, 0, 1, 2)
    services.submit_score(
        second,
        services.ScoreInput(stage="refined", value=2, seen=second.run.drafts.get(number=2).pk),
        by=reviewer,
    )
    judge = make_person("jo", "manager")
    adjudication.adjudicate(first, stage="refined", value=2, why="It finds them.", by=judge)
    return campaign


def test_reimported_export_gives_same_figures(study: Campaign, tmp_path: Path) -> None:
    before = counts_of("Study")
    for ending in ("json", "csv", "jsonl"):
        file = tmp_path / f"out.{ending}"
        run_all("Study", ("export_campaign", file))
        run_all(f"From {ending}", ("import_items", file), ("import_scores", file))
        assert counts_of(f"From {ending}") == before
    assert sum(before.items.values()) == 4
    scripts = [
        list(
            Campaign.objects.get(name=name)
            .items.order_by("case__external_id", "run__drafts__number")
            .values_list("case__external_id", "run__drafts__script", "run__demo")
        )
        for name in ("Study", "From csv")
    ]
    assert scripts[0] == scripts[1]
    assert Assignment.objects.filter(item__campaign__name="From csv", why="=no idea").exists()
    # A second import changes nothing.
    run_all("From jsonl", ("import_items", file), ("import_scores", file))
    assert counts_of("From jsonl") == before


def test_an_export_tells_who_when_and_what_was_seen(study: Campaign, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    run_all("Study", ("export_campaign", file))
    records = [json.loads(line) for line in file.read_text().splitlines()]
    kinds = [one["record"] for one in records]
    assert kinds == sorted(kinds, key=["campaign", "item", "score", "adjudication", "skip"].index)
    score = next(one for one in records if one["record"] == "score")
    assert score["reviewer"] == "rita"
    assert score["visible"]["verdict"] is False
    assert len(score["draft_sha256"]) == 64
    assert {"at", "rubric", "position", "reason", "submitted_at"} <= score.keys()
    assert records[0]["about"]["rubrics"][0]["number"] == 1
    assert all(one["demo"] for one in records if one["record"] in ("item", "score"))
    (settled,) = (one for one in records if one["record"] == "adjudication")
    assert (settled["reviewer"], settled["comment"]) == ("jo", "It finds them.")


@pytest.mark.slow
def test_no_cell_of_a_table_is_a_formula(study: Campaign, tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    run_all("Study", ("export_campaign", file))
    with file.open(newline="", encoding="utf-8") as lines:
        cells = [cell for row in csv.reader(lines) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert '\'=HYPERLINK("x")\r\n\'-1,\t"quoted"\n' in cells


def test_results_in_the_shape_of_eabench_can_be_imported(study: Campaign, tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    assert run_command("export_campaign", "Study", file, "--format=nl2bash-eabench") == 0
    first = json.loads(file.read_text())[0]
    assert first.keys() == {"test", "name", "prompt", "script", "path", "demo"}
    run_all("Again", ("import_items", file))
    assert Campaign.objects.get(name="Again").items.count() == 4


def test_what_can_not_be_written_leaves_nothing(manager: User, tmp_path: Path) -> None:
    rules.create_campaign("Study", by=manager)
    assert run_command("export_campaign", "Nowhere", tmp_path / "x.jsonl") == 2
    assert run_command("export_campaign", "Study", tmp_path) == 2
    assert run_command("export_campaign", "Study", tmp_path / "no" / "x.jsonl") == 2
    assert list(tmp_path.iterdir()) == []


def planned_for(table: str) -> int:
    """Return PostgreSQL's estimate of the number of rows in the table."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT reltuples FROM pg_class WHERE oid = %s::regclass", [table])
        (rows,) = cursor.fetchone()
    return int(rows)


@pytest.mark.slow
def test_an_import_tells_the_planner_what_it_brought(tmp_path: Path) -> None:
    many = MANY + 1
    items = [
        {"id": f"i{one}", "statement": f"Show {one}", "configuration": "c", "script": f"echo {one}"}
        for one in range(many)
    ]
    scores = [
        {"id": f"i{one}", "configuration": "c", "reviewer": "ann", "stage": "script", "value": 2}
        for one in range(many)
    ]
    assert run_command("import_items", "Many", write_lines(tmp_path / "items.jsonl", *items)) == 0
    assert (
        run_command("import_scores", "Many", write_lines(tmp_path / "scores.jsonl", *scores)) == 0
    )

    assert planned_for("review_item") >= many
    assert planned_for("review_score") >= many
    assert planned_for("pipeline_run") >= many
