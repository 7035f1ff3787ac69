"""Tests that a study with halo checks, hidden repeats, flags and all score data survives export and import."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User

from review import services
from review.campaigns.services import editing, states
from review.campaigns.services import rules as studies
from review.counting import tallies
from review.counting.counts import read_counts
from review.models import Campaign, Flag, Item, Score
from review.report.threats.counts import report_threats
from review.services import ScoreInput
from tests.first_cases import first_cases
from tests.review.exchange.files import run_all, run_command, write_lines
from tests.review.maker import let_time_pass, make_study
from tests.review.queue.test_studies import give, go_through

pytestmark = pytest.mark.django_db
CHECKS = ("halo", "repeats", "position", "sitting", "skips")


@pytest.fixture
def study(manager: User, reviewer: User, second_reviewer: User) -> Campaign:
    """Return four items scored twice by one reviewer, with their refined scripts scored by another. One item is
    withdrawn."""
    people = [reviewer, second_reviewer]
    campaign = make_study(
        by=manager, reviewers=people, items=5, halo_share=100, repeat_share=100, rubric="Be kind."
    )
    withdrawn = campaign.items.filter(again="").order_by("pk").last()
    editing.withdraw(withdrawn, why="It is a duplicate.", by=manager)
    go_through(campaign, reviewer, 0, 2, 2)
    let_time_pass()
    Score.objects.update(active_seconds=7.5)
    studies.write_rubric(campaign, "Be strict.", by=manager)
    for number in range(4):
        assignment = services.claim_next(campaign, by=second_reviewer)
        give(assignment.item, second_reviewer, number % 3)
    again = campaign.items.filter(again="repeat").order_by("pk")
    for number, item in enumerate(again):
        services.claim_item(item, by=reviewer)
        give(item, reviewer, number % 2, 2, 1)
    item = campaign.items.filter(again="", state="closed").order_by("pk")[0]
    Flag.objects.create(item=item, by=reviewer, reason="=The statement is vague.")
    Flag.objects.create(
        item=item,
        by=second_reviewer,
        reason="No such host.",
        resolution="It is made up.",
        resolved_by=manager,
        resolved_at=item.created_at,
    )
    return campaign


def checks_of(name: str) -> tuple[object, ...]:
    """Return a campaign's counts and the figures of its checks from the threats to validity."""
    campaign = Campaign.objects.get(name=name)
    tallies.recount(campaign)
    counts = [
        (one.items, one.stages(), {key: one.sums[key] for key in ("demo", "timed", "seconds")})
        for one in read_counts(campaign).values()
    ]
    threats = report_threats(campaign)
    halo = threats["halo"]
    for criterion in ("strict", "partial"):
        # P values are shown only in ended studies, such as imported studies.
        halo[criterion]["p_value"] = None
    return counts, {key: threats[key] for key in CHECKS}


@pytest.mark.slow
@pytest.mark.parametrize("layout", first_cases(1, ["jsonl", "csv", "json"]))
def test_checks_keep_figures_elsewhere(study: Campaign, tmp_path: Path, layout: str) -> None:
    before = checks_of("Study")
    halo, repeats = report_threats(study)["halo"], report_threats(study)["repeats"]
    assert (halo["made"], halo["scored"], halo["compared"]) == (4, 4, 4)
    assert repeats["all"]["share"]["denominator"] == 12
    assert repeats["all"]["share"]["numerator"] == 6
    file = tmp_path / f"out.{layout}"
    run_all("Study", ("export_campaign", file))
    if layout == "jsonl":
        records = [json.loads(line) for line in file.read_text().splitlines()]
        kept = [one for one in records if one.get("purpose") == "halo"]
        assert kept and not kept[0].keys() & {"refined", "feedback", "verdict"}
    for _times in range(2):
        run_all("Again", ("import_items", file), ("import_scores", file))
        assert checks_of("Again") == before
    again = Campaign.objects.get(name="Again")
    assert links_of(again) == links_of(study)
    assert again.items.filter(state="withdrawn").count() == 2  # the item and its check
    shown = again.items.get(again="halo", case__external_id=a_halo_of(study))
    (score,) = shown.scores.all()
    assert "-path" in score.draft.script


def a_halo_of(study: Campaign) -> str:
    halo = study.items.filter(again="halo", state="closed").select_related("case").first()
    return halo.case.external_id


def links_of(campaign: Campaign) -> list[tuple[object, ...]]:
    """Return each repeated item's ID, kind and original, and whether it has the same run as the original."""
    again = campaign.items.exclude(again="").select_related("case__repeats")
    return sorted(
        (
            item.case.external_id,
            item.again,
            item.case.purpose,
            item.case.repeats.external_id if item.case.repeats else "",
            campaign.items.get(case=item.case.repeats_id).run_id == item.run_id,
        )
        for item in again
    )


@pytest.mark.slow
def test_what_is_recorded_with_a_score_comes_back(study: Campaign, tmp_path: Path) -> None:
    first = study.items.filter(again="", state="closed").order_by("pk")[0]
    Score.objects.filter(item=first, stage="refined").update(view="diff")
    file = tmp_path / "out.csv"
    run_all("Study", ("export_campaign", file))
    run_all("Again", ("import_items", file), ("import_scores", file))
    assert recorded_of("Again") == recorded_of("Study")
    assert any(row[-1] for row in recorded_of("Again"))
    again = Campaign.objects.get(name="Again")
    assert list(again.rubrics.order_by("number").values_list("number", "text")) == [
        (1, "Be kind."),
        (2, "Be strict."),
    ]
    assert flags_of("Again") == flags_of("Study")
    assert len(flags_of("Again")) == 2
    run_all("Again", ("import_items", file), ("import_scores", file))
    assert len(flags_of("Again")) == 2


def recorded_of(name: str) -> list[tuple[object, ...]]:
    scores = Score.objects.filter(item__campaign__name=name).order_by(
        "item__case__external_id", "reviewer", "stage", "at"
    )
    fields = (
        *("item__case__external_id", "stage", "value", "view", "position", "visible"),
        *("active_seconds", "sitting_minutes", "rubric__number", "rubric__text", "earlier_by"),
    )
    return list(scores.values_list(*fields))


def flags_of(name: str) -> list[tuple[object, ...]]:
    flags = Flag.objects.filter(item__campaign__name=name).order_by("reason")
    return list(flags.values_list("by", "reason", "at", "resolution", "resolved_by", "resolved_at"))


@pytest.mark.slow
def test_changed_version_is_not_reused(study: Campaign, manager: User, tmp_path: Path) -> None:
    file = tmp_path / "out.jsonl"
    run_all("Study", ("export_campaign", file))
    rules = studies.Rules(rubric="Be strict.")
    studies.create_campaign("Again", by=manager, rules=rules)
    run_all("Again", ("import_items", file), ("import_scores", file))
    again = Campaign.objects.get(name="Again")
    assert [one.text for one in again.rubrics.all()] == ["Be strict."]
    assert not Score.objects.filter(item__campaign=again).exclude(rubric=None).exists()


ORIGINAL: dict[str, object] = {
    **{"id": "a", "statement": "List", "script": "ls\n", "verdict": "incorrect"},
    **{"feedback": "- Hidden files.", "refined": "ls -a\n"},
}
HALO: dict[str, object] = {
    **{"id": "a-halo", "statement": "List", "script": "ls -a\n"},
    **{"purpose": "halo", "repeats": "a"},
}


def test_unmatched_check_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    changes: list[tuple[dict[str, object], str]] = [
        ({"repeats": "b"}, "does not exist; import it first"),
        ({"configuration": "gpt"}, "does not exist"),
        ({"script": "ls\n"}, "this is not the refined script"),
        ({"purpose": "repeat"}, "this is not the script"),
        ({"id": "a"}, "this id already exists"),
    ]
    for change, said in changes:
        file = write_lines(tmp_path / "a.jsonl", ORIGINAL, HALO | change)
        assert run_command("import_items", "Study", file) == 1, change
        assert said in capsys.readouterr().err
        assert not Item.objects.exclude(again="").exists()
    run_all("Study", ("import_items", write_lines(tmp_path / "b.jsonl", HALO)))
    assert Item.objects.get(again="halo").case.repeats.external_id == "a"
    # An item has at most one check of each kind.
    second = write_lines(tmp_path / "c.jsonl", HALO | {"id": "a-second"})
    assert run_command("import_items", "Study", second) in (1, 2)
    assert "'a' already has a halo" in capsys.readouterr().err


def test_a_check_may_stand_before_its_item_in_the_file(tmp_path: Path) -> None:
    run_all("Study", ("import_items", write_lines(tmp_path / "a.jsonl", HALO, ORIGINAL)))
    # The campaign repeats no items, so this item is never assigned.
    assert Item.objects.get(again="halo").state == Item.State.CLOSED


def test_unnamed_check_is_own_item(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {key: value for key, value in HALO.items() if key != "repeats"}
    assert run_command("import_items", "Study", write_lines(tmp_path / "a.jsonl", row)) == 0
    assert "the row does not name the item that it repeats" in capsys.readouterr().err
    assert Item.objects.get().again == ""


def test_opening_adds_halo_checks(manager: User, reviewer: User, tmp_path: Path) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=1, halo_share=100)
    file = write_lines(tmp_path / "a.jsonl", ORIGINAL, {**ORIGINAL, "id": "b", "refined": ""})
    run_all("Study", ("import_items", file))
    halos = campaign.items.filter(again="halo")
    assert {one.case.repeats.external_id for one in halos} == {"case-0", "a"}
    run_all("Study", ("import_items", file))
    assert halos.count() == 2
    rules = studies.Rules(halo_share=100)
    later = studies.create_campaign("Later", by=manager, rules=rules, reviewers=[reviewer])
    run_all("Later", ("import_items", write_lines(tmp_path / "b.jsonl", ORIGINAL)))
    assert not later.items.filter(again="halo").exists()
    states.move_campaign(later, "open", by=manager)
    assert later.items.filter(again="halo").count() == 1


def test_a_repeat_that_is_still_to_come_is_handed_to_who_scored_the_item(
    manager: User, reviewer: User, second_reviewer: User, tmp_path: Path
) -> None:
    people = [reviewer, second_reviewer]
    campaign = make_study(by=manager, reviewers=people, items=1, repeat_share=100)
    item = campaign.items.get()
    services.claim_item(item, by=reviewer)
    give(item, reviewer, 0, 2, 2)
    let_time_pass()
    file = tmp_path / "out.jsonl"
    run_all("Study", ("export_campaign", file))
    rules = studies.Rules(repeat_share=100)
    elsewhere = studies.create_campaign("Again", by=manager, rules=rules, reviewers=people)
    run_all("Again", ("import_items", file), ("import_scores", file))
    elsewhere = states.move_campaign(elsewhere, "open", by=manager)
    let_time_pass()
    assert services.claim_next(elsewhere, by=second_reviewer) is None
    assignment = services.claim_next(elsewhere, by=reviewer)
    assert assignment.item.again == "repeat"
    services.submit_score(
        assignment.item,
        ScoreInput(stage="script", value=1, seen=assignment.item.run.drafts.get(number=1).pk),
        by=reviewer,
    )


def test_invalid_flag_and_time_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_all("Study", ("import_items", write_lines(tmp_path / "a.jsonl", ORIGINAL)))
    file = write_lines(
        tmp_path / "b.jsonl",
        {"record": "flag", "item": "a", "reviewer": "rita"},
        {"item": "a", "reviewer": "rita", "script": 1, "active_seconds": -1},
        {"item": "a", "reviewer": "rolf", "script": 1, "active_seconds": 12.5},
        {"record": "score", "item": "a", "reviewer": "rosa", "script": 1, "earlier_by": [1]},
    )
    assert run_command("import_scores", "Study", file) == 1
    err = capsys.readouterr().err
    assert "comment: no reason found" in err
    assert "active_seconds: -1 is not a number from 0 to" in err
    assert "earlier_by: is not an object" in err
    assert Score.objects.get().active_seconds == 12.5
    assert not Flag.objects.exists()
