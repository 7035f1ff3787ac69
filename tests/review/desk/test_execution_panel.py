"""Tests that sandbox test results of the scripts appear after the last score, with their differences in words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from catalog.evidence.services import remove_cases
from catalog.models import CaseRun, CaseSet, EntryCases, Execution, SandboxReport
from catalog.services import keep_case_set
from pipeline import services as pipeline
from review import services
from review.desk.views.evidence_differences import DraftEvidence, find_world_differences
from review.models import Assignment, Item
from tests.catalog.execution.cases.writing import case_data, make_set
from tests.catalog.shelf import shelve
from tests.make import make_run
from tests.review.blinding import rewriting
from tests.review.desk.test_desk import score_next
from tests.review.maker import ClientFor


@pytest.fixture
def ran(held_flagged: Assignment) -> Item:
    """Return an item whose two scripts were run in the sandbox tests for their request."""
    rewriting.run_its_cases(held_flagged.item)
    return held_flagged.item


def panel_of(item: Item, reviewer: User, client: Client) -> str:
    """Score all stages and return the panel's HTML, or an empty string if the page has no panel."""
    while services.open_item(Item.objects.get(pk=item.pk), reviewer).next_step:
        score_next(item, reviewer, 0)
    return client.get(reverse("item-review", args=[item.pk])).text.partition('id="execution"')[2]


def test_panel_follows_last_score(ran: Item, reviewer: User, client_for: ClientFor) -> None:
    client, url = client_for(reviewer), reverse("item-review", args=[ran.pk])
    for value in (0, 2, 2):
        assert "TELLTALE" not in client.get(url).text
        score_next(ran, reviewer, value)
    panel = panel_of(ran, reviewer, client)
    assert "TELLTALE sentence" in panel and "TELLTALE check 1" in panel
    difference = panel.partition("Different results")[2].partition("</ul>")[0]
    assert "TELLTALE check 1" in difference and "failed" in difference
    assert "TELLTALE check 2" not in difference
    # The scripts have the same names as elsewhere on the page.
    for name in ("Original", "Refined"):
        assert name in difference and f">{name}</h3>" in panel
    assert "script 1" not in difference


def test_where_nothing_was_run_there_is_no_panel(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    assert panel_of(held_flagged.item, reviewer, client_for(reviewer)) == ""


def test_the_difference_is_what_they_did(ran: Item, reviewer: User, client_for: ClientFor) -> None:
    for draft in ran.run.drafts.all():
        seen = {
            "ended": "finished", "status": 0, "stdout": "", "stderr": "", "added": [], "changed": [],
            "touched": [], "calls": [], "removed": ["/srv/a"] if draft.number == 1 else ["/srv/a", "/srv/b"],
        }  # fmt: skip
        worlds = [{"title": "TELLTALE world", "state": "passed", "seen": seen}]
        Execution.objects.filter(script_sha256=draft.sha256).update(
            document={"sentence": "", "worlds": worlds, "quality": None}
        )
    panel = panel_of(ran, reviewer, client_for(reviewer))
    assert "Refined also removes <code>/srv/b</code>." in panel


def test_panel_says_why_nothing_runs(ran: Item, reviewer: User, as_reviewer: Client) -> None:
    Execution.objects.update(state="not run", reason="no sandbox here: user namespaces are off.")
    shown = panel_of(ran, reviewer, as_reviewer)
    assert "Not run: no sandbox here: user namespaces are off." in shown
    CaseRun.objects.all().delete()
    Execution.objects.all().delete()
    SandboxReport.objects.create(reason="User namespaces are off.", remedy="Turn them on.")
    shown = panel_of(ran, reviewer, as_reviewer)
    assert "Not run: User namespaces are off. Turn them on." in shown
    SandboxReport.objects.create(name="bubblewrap")
    shown = panel_of(ran, reviewer, as_reviewer)
    assert "These tests have not run yet." in shown


def test_drafts_of_a_finished_run_are_run_where_the_statement_has_cases(reviewer: User) -> None:
    statement = "Delete log files of the app older than 7 days"
    run = make_run(statement=statement.upper(), by=reviewer, script="#!/bin/bash\ntrue\n")
    assert pipeline.request_evidence(run.pk) == 0
    case_set = keep_case_set(make_set(case_data()), by=None)
    drafts = {draft.sha256 for draft in run.drafts.all()}
    assert pipeline.request_evidence(run.pk) == 0, "nobody would run them"
    SandboxReport.objects.create(name="bubblewrap")
    assert pipeline.request_evidence(run.pk) == len(drafts)
    asked = CaseRun.objects.filter(case_set=case_set, purpose="draft")
    assert set(asked.values_list("script_sha256", flat=True)) == drafts
    run.action.erased_at = run.created_at
    run.action.save(update_fields=["erased_at"])
    assert pipeline.request_evidence(run.pk) == 0


def test_result_outlasts_later_not_run(ran: Item, reviewer: User, client_for: ClientFor) -> None:
    for found in list(Execution.objects.all()):
        Execution.objects.create(
            script_sha256=found.script_sha256,
            case_set=found.case_set,
            state="not run",
            reason="Execution is turned off.",
        )
    panel = panel_of(ran, reviewer, client_for(reviewer))
    assert "TELLTALE sentence" in panel and "turned off" not in panel


def test_what_a_curator_removed_is_shown_no_longer(
    ran: Item, reviewer: User, curator: User, client_for: ClientFor
) -> None:
    kept = EntryCases.objects.create(entry=shelve("Another").entry, case_set=CaseSet.objects.get())
    assert panel_of(ran, reviewer, client_for(reviewer))
    remove_cases(kept, by=curator)
    assert panel_of(ran, reviewer, client_for(reviewer)) == ""


SEEN = {
    "ended": "finished", "status": 0, "stdout": "", "stderr": "", "removed": ["/a"], "added": [],
    "changed": [], "touched": [], "calls": [["nginx", "-t"], ["systemctl", "reload", "nginx"]],
}  # fmt: skip


def draft(label: str, machine: str = "m", **seen: Any) -> DraftEvidence:
    case = SimpleNamespace(title="a world", seen={**SEEN, **seen})
    execution = SimpleNamespace(fingerprint_sha256=machine)
    result: Any = SimpleNamespace(case_set=SimpleNamespace(pk=1), execution=execution, cases=[case])
    return DraftEvidence(label, [result])


def test_it_is_said_in_a_sentence() -> None:
    calls: list[list[str]] = SEEN["calls"]
    cases: list[tuple[dict[str, Any], str]] = [
        ({"removed": ["/a", "/b"]}, "Refined also removes `/b`."),
        ({"removed": []}, "Refined does not remove `/a`."),
        ({"added": ["/x\\u202e"]}, "Refined also adds `/x\\u202e`."),
        ({"changed": ["/c"]}, "Refined also changes `/c`."),
        ({"calls": [["nginx", "-t"]]}, "Refined does not call `systemctl reload nginx`."),
        ({"calls": [*calls, ["mail", "ops"]]}, "Refined also calls `mail ops`."),
        ({"calls": calls[::-1]},
         "Refined makes the same calls in a different order: `systemctl reload nginx`, `nginx -t`."),
        ({"status": 1}, "Refined exits with 1 instead of 0."),
        ({"stdout": "2 files\n"}, "Refined prints `2 files\\n`, but Original prints nothing."),
        ({"ended": "timed out", "status": None}, "Refined: timed out. Original: finished."),
    ]  # fmt: skip
    for seen, sentence in cases:
        found = find_world_differences([draft("Original"), draft("Refined", **seen)])
        assert [(one.case, *one.sentences) for one in found] == [("a world", sentence)]


def test_nothing_is_said_where_they_do_the_same_or_cannot_be_compared() -> None:
    assert not find_world_differences([draft("Original"), draft("Refined")])
    other_machine = draft("Refined", machine="other", removed=[])
    assert not find_world_differences([draft("Original"), other_machine])
    assert not find_world_differences([draft("Original")])
