"""A campaign out and in again: the same figures; and what an export holds."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from review import services
from review.campaigns.services import adjudication, rules
from review.counting import tallies
from review.counting.counts import Counts, read_counts
from review.models import Assignment, Campaign, Score
from tests.people import make_person
from tests.review.exchange.files import run_all, run_command
from tests.review.maker import make_study
from tests.review.queue.test_studies import give, go_through

pytestmark = pytest.mark.django_db
JUDGEMENTS = (
    Path(__file__).resolve().parents[4] / "shared" / "data" / "nl2bash_judgements_tellina.jsonl"
)


def counts_of(name: str) -> Counts:
    """What is counted of a campaign with one configuration."""
    campaign = Campaign.objects.get(name=name)
    tallies.recount(campaign)
    (counts,) = read_counts(campaign).values()
    # Of an import it is said that its scores were given elsewhere.
    counts.sums.pop("here", None)
    return counts


@pytest.mark.skipif(not JUDGEMENTS.exists(), reason="the set of judgements is not here")
def test_judgements_of_three_raters_are_scores_and_what_was_not_asked_is_none(
    tmp_path: Path,
) -> None:
    raters = [f"--map=reviewer:{name}=rater_{name.lower()}" for name in "ABC"]
    some = tmp_path / "some.jsonl"
    some.write_text("".join(JUDGEMENTS.read_text().splitlines(keepends=True)[:150]))
    assert run_command("import_items", "Tellina", some) == 0
    assert run_command("import_scores", "Tellina", some, *raters) == 0
    rows = [json.loads(line) for line in some.read_text().splitlines()]
    given = {
        (name, row["id"]): row[f"rater_{name.lower()}"]
        for row in rows
        for name in "ABC"
        if row[f"rater_{name.lower()}"] is not None
    }
    found = Score.objects.values_list("reviewer__username", "item__case__external_id", "value")
    assert {(name, item): value for name, item, value in found} == given
    assert 0 < sum(name == "C" for name, _item in given) < len(rows)


@pytest.fixture
def study(manager: User, reviewer: User, second_reviewer: User) -> Campaign:
    """Two reviewers on four items: a difference settled by a manager, a skip, a changed score, a formula."""
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


@pytest.mark.slow
def test_an_export_imported_into_a_new_campaign_gives_the_same_figures(
    study: Campaign, tmp_path: Path
) -> None:
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
    # Twice is once.
    run_all("From jsonl", ("import_items", file), ("import_scores", file))
    assert counts_of("From jsonl") == before


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_dataset_folder_has_a_card_and_lines_that_can_be_imported(
    study: Campaign, tmp_path: Path
) -> None:
    file = tmp_path / "out.zip"
    run_all("Study", ("export_campaign", file))
    with zipfile.ZipFile(io.BytesIO(file.read_bytes())) as folder:
        assert sorted(folder.namelist()) == ["README.md", "data.jsonl", "scores.jsonl"]
        assert 'pretty_name: "Study"' in folder.read("README.md").decode()
        folder.extractall(tmp_path)
    run_all(
        "Again",
        ("import_items", tmp_path / "data.jsonl"),
        ("import_scores", tmp_path / "scores.jsonl"),
    )
    assert counts_of("Again") == counts_of("Study")


@pytest.mark.slow
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
