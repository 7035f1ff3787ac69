"""Tests that imported scores follow the study's rules: current scores, adjudication, multiple experts and rounds."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction

from review.counting.counts import read_counts
from review.exchange.importing import importer
from review.exchange.importing.items import import_items
from review.exchange.source import Source
from review.models import Campaign, Item, Score
from review.report import services
from tests.review.exchange.files import run_all, run_command, write_lines

pytestmark = pytest.mark.django_db
EARLY, LATE = "2026-03-01T09:00:00+00:00", "2026-03-01T09:30:00+00:00"


def item(name: str = "one", **rest: object) -> dict[str, object]:
    return {"id": name, "statement": f"Do {name}", "script": "ls\n", "verdict": "correct", **rest}


def given(reviewer: str, script: int, **rest: object) -> dict[str, object]:
    return {"item": "one", "reviewer": reviewer, "script": script, **rest}


def import_into(folder: Path, items: list[Any], scores: list[Any], name: str = "Study") -> int:
    """Import items and scores, and return the exit code of the score import."""
    run_all(name, ("import_items", write_lines(folder / "items.jsonl", *items)))
    return run_command("import_scores", name, write_lines(folder / "scores.jsonl", *scores))


def printed(name: str = "Study") -> dict[str, Any]:
    out = StringIO()
    call_command("study_report", name, "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found


def details_of(name: str = "Study") -> dict[str, Any]:
    details = services.make_report(Campaign.objects.get(name=name))["details"]
    assert isinstance(details, dict)
    return details


def figure(name: str, criterion: str = "strict", arm: int = 0) -> tuple[int, int]:
    found = printed()["configurations"][arm][criterion][name]
    return found["numerator"], found["denominator"]


def comes_back(folder: Path) -> bool:
    """Return whether exporting and importing into another campaign yields the same report."""
    file = folder / "out.jsonl"
    run_all("Study", ("export_campaign", file))
    run_all("Again", ("import_items", file), ("import_scores", file))

    def seen(name: str) -> list[object]:
        report = services.make_report(Campaign.objects.get(name=name))
        arms = [
            {key: arm[key] for key in ("items", "strict", "partial")}
            for arm in details_of(name)["arms"]
        ]
        return [arms, *(report[key] for key in ("items", "configurations", "agreement"))]

    return seen("Study") == seen("Again")


def test_which_score_counts_is_told_by_time_and_not_by_line(tmp_path: Path) -> None:
    """The newest score counts, and a score without a time is the oldest. The order of lines does not matter."""
    for first, second, right in (
        ({"at": EARLY}, {"at": LATE}, 1),
        ({}, {"at": EARLY}, 1),
        ({"at": LATE}, {"at": EARLY}, 0),
    ):
        for order in (1, -1):
            with transaction.atomic():
                scores = [given("A", 0, **first), given("A", 2, **second)][::order]
                assert import_into(tmp_path, [item()], scores) == 0
                assert figure("first_pass_accuracy") == (right, 1), (first, second, order)
                assert Score.objects.filter(current=True).count() == 1
                transaction.set_rollback(True)


def test_of_two_at_the_same_time_the_later_line_counts(tmp_path: Path) -> None:
    scores = [given("A", 2, at=EARLY), given("A", 0, at=EARLY)]
    assert import_into(tmp_path, [item()], scores) == 0
    assert figure("first_pass_accuracy") == (0, 1)
    run_all("Study", ("import_scores", write_lines(tmp_path / "scores.jsonl", *scores)))
    assert Score.objects.count() == 2
    # Two different values without a time contradict each other.
    assert import_into(tmp_path, [item()], [given("B", 2), given("B", 0)]) == 1


def test_a_score_that_was_taken_back_stays_so(tmp_path: Path) -> None:
    undone = given("A", 0, at=LATE, current=False, undone_at=LATE)
    assert import_into(tmp_path, [item()], [undone, given("A", 2, at=EARLY)]) == 0
    assert figure("first_pass_accuracy") == (1, 1)
    assert comes_back(tmp_path)


def test_scores_that_saw_more_than_their_stage_do_not_decide(tmp_path: Path) -> None:
    seen = {"record": "score", "visible": {"verdict": True}, "at": EARLY}
    scores = [given("A", 2), given("B", 2, **seen)]
    assert import_into(tmp_path, [item(overlap=2)], scores) == 0
    found = printed()["configurations"][0]["strict"]["first_pass_accuracy"]

    assert (found["denominator"], found["pending"]) == (0, 1)
    assert Item.objects.get().done == 1  # another reviewer must still score the item
    details = details_of()
    assert details["not_blind"] == [
        {
            **{"configuration": "imported", "stage": "script", "verdict": "correct"},
            **{"value": 2, "scores": 1},
        }
    ]
    with_it = details["readings"]["with_not_blind"]["imported"]["strict"]["first_pass_accuracy"]
    assert (with_it["numerator"], with_it["denominator"]) == (1, 1)
    assert comes_back(tmp_path)


def test_several_rounds_fill_the_gain_table_and_come_back(tmp_path: Path) -> None:
    later = [
        {"round": 2, "feedback": "- Still.", "refined": "ls -la\n", "recommended": True},
        {"round": 3, "feedback": "- Back again.", "refined": "ls\n"},
    ]
    texts = {"feedback": "- Too many.", "refined": "ls -a\n", "verdict": "incorrect"}
    scores = [
        {**given("A", 0), "feedback": 2, "refined": 0},
        {"item": "one", "reviewer": "A", "stage": "refined", "round": 2, "value": 2},
    ]
    assert import_into(tmp_path, [item(recommended="other", later=later, **texts)], scores) == 0
    gain = details_of()["arms"][0]["strict"]["gain"]

    assert [row["drafts"] for row in gain] == [1, 1, 1, 1]
    # The third round returned to the first script, which already has a score.
    assert [row["by_assessor"]["numerator"] for row in gain] == [0, 0, 1, 0]
    assert [row["by_expert"]["numerator"] for row in gain] == [0, 0, 1, 1]
    assert figure("overall_assessor_triggered") == (0, 1)
    # The second round is recommended and has its own score.
    assert figure("overall_as_recommended") == (1, 1)
    assert comes_back(tmp_path)


def test_one_reviewer_scores_the_refinements_of_two_experts(tmp_path: Path) -> None:
    experts = [
        {"author": "eva", "feedback": "- So.", "refined": "ls -1\n"},
        {"author": "ian", "feedback": "- Or so.", "refined": "ls -2\n"},
    ]
    scores = [
        given("A", 0),
        *(
            {
                **{"item": "one", "reviewer": "A", "arm": "expert", "feedback_by": by},
                **{"stage": "refined", "value": value},
            }
            for by, value in (("eva", 0), ("ian", 2))
        ),
    ]
    assert import_into(tmp_path, [item(experts=experts, feedback="- No.")], scores) == 0

    kept = Score.objects.filter(arm="expert", current=True).order_by("value")
    assert [(one.value, one.draft.script) for one in kept if one.draft] == [
        (0, "ls -1\n"),
        (2, "ls -2\n"),
    ]
    assert comes_back(tmp_path)


def word(by: str, value: int, **rest: object) -> dict[str, object]:
    return {
        **{"record": "adjudication", "item": "one", "reviewer": by, "stage": "script"},
        **{"value": value, "comment": "So.", **rest},
    }


def test_a_rater_of_an_item_cannot_adjudicate_it(tmp_path: Path) -> None:
    scores = [given("A", 0), given("B", 2), word("A", 2)]
    assert import_into(tmp_path, [item(overlap=2)], scores) == 1
    assert figure("first_pass_accuracy") == (0, 0)

    assert import_into(tmp_path, [item(overlap=2)], [word("C", 2), given("C", 2)]) == 1
    assert figure("first_pass_accuracy") == (1, 1)


def test_same_text_counts_in_both_arms_and_once_in_agreement(tmp_path: Path) -> None:
    arms = [item(overlap=2, configuration=name) for name in ("one-arm", "other-arm")]
    scores = [given("A", 0, configuration="one-arm"), given("B", 2, configuration="other-arm")]
    assert import_into(tmp_path, arms, scores) == 0
    document = printed()
    for arm in document["configurations"]:
        assert arm["strict"]["first_pass_accuracy"]["unresolved"] == 1
        assert arm["agreement"]["script"]["items"] == 1
    assert document["agreement"]["script"]["items"] == 1
    campaign = Campaign.objects.get(name="Study")
    assert campaign.items.filter(disputed=True).count() == 1

    words = [word("C", 2, configuration="one-arm"), word("C", 0, configuration="other-arm")]
    assert import_into(tmp_path, arms, words) == 1
    assert [figure("first_pass_accuracy", arm=arm) for arm in (0, 1)] == [(1, 1), (1, 1)]
    assert not campaign.items.filter(disputed=True).exists()
    assert comes_back(tmp_path)


def test_who_was_called_in_is_named_by_a_mapping_and_left_out_of_agreement(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    rows = "".join(f"c{n},Do c{n},0,2,2\n" for n in range(3))
    table.write_text(f"id,statement,rater_a,rater_b,rater_c\n{rows}", encoding="utf-8")
    maps = ["reviewer:A=rater_a", "reviewer:B=rater_b", "called_in:C=rater_c"]
    run_all("Study", ("import_items", table))
    run_all("Study", ("import_scores", table), arguments=[f"--map={one}" for one in maps])

    (counts,) = read_counts(Campaign.objects.get(name="Study")).values()
    assert figure("first_pass_accuracy") == (3, 3)
    assert [(pair["a"], pair["b"]) for pair in printed()["agreement"]["script"]["pairs"]] == [
        ("A", "B")
    ]
    assert counts.readings


class _Killed(importer.Quiet):
    def note(self, counts: object, remarks: object, *, position: int) -> None:
        if position and getattr(counts, "read", 0) > 2:
            raise KeyboardInterrupt


def test_the_family_of_an_import_that_was_killed_is_kept_as_it_would_be_named_here(
    tmp_path: Path, manager: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pair in either order is one comparison. An import killed in its second slice resumes by name."""
    monkeypatch.setattr(importer, "SLICE", 2)
    pair, net = ["first_pass_accuracy", "strict"], ["net", "strict", "a", ""]
    for name, family, kept in (
        ("Killed", [[*pair, "b", "a"], [*pair, "a", "b"], net], [[*pair, "a", "b"], net]),
        ("None", [], None),
        ("Of itself", [[*pair, "a", "a"]], None),
    ):
        rules = {"record": "campaign", "id": name, "about": {"p_family": family}}
        file = write_lines(tmp_path / "in.jsonl", rules, item("one"), item("two"), item("three"))
        with pytest.raises(KeyboardInterrupt):
            import_items(Source(file), name, by=manager, journal=_Killed())
        assert import_items(Source(file), name, by=manager).kept == 2
        assert Campaign.objects.get(name=name).p_family == kept


def test_without_times_no_score_is_of_a_first_quarter(tmp_path: Path) -> None:
    items = [item(f"{number}") for number in range(8)]
    scores = [{**given("A", 2), "item": f"{number}"} for number in range(8)]
    assert import_into(tmp_path, items, scores) == 0
    assert "without_first_quarter" not in details_of()["readings"]
