"""What the scripts did in prepared worlds: on the review screen when every stage has its score, and not before."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from catalog.evidence.services import remove_cases
from catalog.models import CaseRun, CaseSet, EntryCases, Execution, SandboxReport
from catalog.services import keep_case_set
from pipeline import services as pipeline
from review.models import Assignment
from tests.catalog.execution.cases.writing import case_data, make_set
from tests.catalog.shelf import shelve
from tests.make import make_run
from tests.review.blinding import rewriting
from tests.review.desk.test_desk import score_next

ClientFor = Callable[[User], Client]
pytestmark = pytest.mark.django_db


@pytest.mark.slow
def test_it_appears_with_the_last_score_and_names_the_difference(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    item, client = held_flagged.item, client_for(reviewer)
    rewriting.run_its_cases(item)
    url = reverse("item-review", args=[item.pk])
    for value in (0, 2, 2):
        assert "TELLTALE" not in client.get(url).text
        score_next(item, reviewer, value)
    panel = client.get(url).text.partition('id="execution"')[2]
    assert "TELLTALE sentence" in panel and "TELLTALE check 1" in panel
    difference = panel.partition("How the scripts differ")[2].partition("</ul>")[0]
    assert "TELLTALE check 1" in difference and "does not hold" in difference
    assert "TELLTALE check 2" not in difference
    # Named as on the rest of the screen.
    for name in ("Original", "Refined"):
        assert name in difference and f">{name}</h3>" in panel
    assert "script 1" not in difference


def test_where_nothing_was_run_there_is_no_panel(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    item, client = held_flagged.item, client_for(reviewer)
    for value in (0, 2, 2):
        score_next(item, reviewer, value)
    assert 'id="execution"' not in client.get(reverse("item-review", args=[item.pk])).text


def test_the_difference_is_what_they_did(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    item, client = held_flagged.item, client_for(reviewer)
    rewriting.run_its_cases(item)
    assert item.run is not None
    for draft in item.run.drafts.all():
        seen = {
            "ended": "finished", "status": 0, "stdout": "", "stderr": "", "added": [], "changed": [],
            "touched": [], "calls": [], "removed": ["/srv/a"] if draft.number == 1 else ["/srv/a", "/srv/b"],
        }  # fmt: skip
        worlds = [{"title": "TELLTALE world", "state": "passed", "seen": seen}]
        Execution.objects.filter(script_sha256=draft.sha256).update(
            document={"sentence": "", "worlds": worlds, "quality": None}
        )
    for value in (0, 2, 2):
        score_next(item, reviewer, value)
    panel = client.get(reverse("item-review", args=[item.pk])).text.partition('id="execution"')[2]
    assert "Refined also removes <code>/srv/b</code>." in panel


@pytest.mark.slow
def test_where_nobody_would_run_anything_the_panel_says_why(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    item, client = held_flagged.item, client_for(reviewer)
    rewriting.run_its_cases(item)
    CaseRun.objects.all().delete()
    Execution.objects.all().delete()
    SandboxReport.objects.create(reason="User namespaces are off.", remedy="Turn them on.")
    for value in (0, 2, 2):
        score_next(item, reviewer, value)
    panel = client.get(reverse("item-review", args=[item.pk])).text.partition('id="execution"')[2]
    assert "Not run: User namespaces are off. Turn them on." in panel
    SandboxReport.objects.create(name="bubblewrap")
    panel = client.get(reverse("item-review", args=[item.pk])).text.partition('id="execution"')[2]
    assert "The scripts were not run in these cases yet." in panel


def test_what_was_not_run_says_why(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    item, client = held_flagged.item, client_for(reviewer)
    rewriting.run_its_cases(item)
    Execution.objects.update(state="not run", reason="no sandbox here: user namespaces are off.")
    for value in (0, 2, 2):
        score_next(item, reviewer, value)
    shown = client.get(reverse("item-review", args=[item.pk])).text
    assert "Not run: no sandbox here: user namespaces are off." in shown


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


def test_a_result_is_not_hidden_by_one_that_was_not_run(
    held_flagged: Assignment, reviewer: User, client_for: ClientFor
) -> None:
    item, client = held_flagged.item, client_for(reviewer)
    rewriting.run_its_cases(item)
    for found in list(Execution.objects.all()):
        Execution.objects.create(
            script_sha256=found.script_sha256,
            case_set=found.case_set,
            state="not run",
            reason="Execution is switched off.",
        )
    for value in (0, 2, 2):
        score_next(item, reviewer, value)
    panel = client.get(reverse("item-review", args=[item.pk])).text.partition('id="execution"')[2]
    assert "TELLTALE sentence" in panel and "switched off" not in panel


@pytest.mark.slow
def test_what_a_curator_removed_is_shown_no_longer(
    held_flagged: Assignment, reviewer: User, curator: User, client_for: ClientFor
) -> None:
    item, client = held_flagged.item, client_for(reviewer)
    rewriting.run_its_cases(item)
    kept = EntryCases.objects.create(entry=shelve("Another").entry, case_set=CaseSet.objects.get())
    for value in (0, 2, 2):
        score_next(item, reviewer, value)
    url = reverse("item-review", args=[item.pk])
    assert 'id="execution"' in client.get(url).text
    remove_cases(kept, by=curator)
    assert 'id="execution"' not in client.get(url).text
