"""Tests for a match that an assessor confirms, from the statement to the page."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

import catalog
from catalog import services as catalogue
from catalog.models import MatchLabel, Version
from catalog.retrieval.services import as_document
from pipeline import services
from pipeline.execution import run_worker
from pipeline.models import Attempt, Configuration, EntryDescription, Run
from pipeline.runs.catalogue_use import count_shown
from tests.catalog.shelf import shelve
from tests.make import make_action
from tests.people import ClientFor
from tests.pipeline.rows import interrupt
from tests.standin_process import StandIn

pytestmark = pytest.mark.django_db

ENTRY = "Restart nginx, but only if its configuration is valid"
ASKED = "Restart nginx only if its config has passed the test"
STARTER = Path(catalog.__file__).parent / "starter"


@pytest.fixture
def version(curator: User) -> Version:
    """Return the only entry of the catalogue. Scoring alone is not confident enough to match it."""
    script = (STARTER / "restart-nginx-if-valid" / "script.sh").read_text()
    made = shelve(ENTRY, script=script, verified_by=curator)
    found = catalogue.retrieve(ASKED)
    assert (found.answer, found.matches[0].is_confirmable) == ("adapt", True)
    Configuration.objects.update(confirms_matches=True)
    return made


def carry_out(by: User | None = None) -> Run:
    run = services.start_run(make_action(ASKED, by=by), by=by, enqueue=False)
    return run_worker.run_to_end(run.pk, give_up_after=60)


def outcomes(run: Run) -> dict[str, str]:
    return {one.name: one.outcome for one in run.stages.all()}


def test_the_catalogue_answers_once_the_assessor_agrees(standin: StandIn, version: Version) -> None:
    run = carry_out()
    assert (run.state, run.answered_by, run.match_confirmed_by) == ("done", version, "demo-smith")
    assert outcomes(run) == {
        "retrieve": "adapt",
        "entry_text": "read",
        "entry_like": "match",
        "entry_differ": "match",
        "confirm": "confirmed",
    }
    (draft,) = run.drafts.all()
    assert (draft.kind, draft.script, draft.version) == ("retrieved", version.script, version)
    assert run.verdict == "" and not hasattr(draft, "assessment")
    assert Attempt.objects.filter(call__run=run, outcome="answered").count() == 3
    (kept,) = EntryDescription.objects.all()
    assert (kept.version, kept.script_sha256, kept.model) == (version, version.sha256, "demo-smith")
    assert kept.text == run.stages.get(name="entry_text").found
    again = carry_out()
    assert again.match_confirmed_by and outcomes(again)["entry_text"] == "known"
    assert Attempt.objects.filter(call__run=again).count() == 2, "it is described once"


def test_where_the_assessor_objects_a_script_is_written(standin: StandIn, version: Version) -> None:
    objection = {"verdict": "mismatch", "differences": ["It reloads."], "reason": "Not the same."}
    standin.faults({"kind": "text", "text": json.dumps(objection), "task": "difference"})
    run = carry_out()
    assert (run.answered_by, run.match_confirmed_by) == (None, "")
    assert run.stages.get(name="confirm").found == "It reloads."
    assert outcomes(run)["generate"] == "written" and run.verdict


def test_it_is_off_unless_a_configuration_has_it_on(standin: StandIn, version: Version) -> None:
    Configuration.objects.update(confirms_matches=False)
    run = carry_out()
    assert run.answered_by is None and "confirm" not in outcomes(run)
    assert not EntryDescription.objects.exists()


@pytest.mark.slow
def test_interrupted_run_pays_nothing_twice(standin: StandIn, version: Version) -> None:
    run = services.start_run(make_action(ASKED), by=None, enqueue=False)
    interrupt(standin, run, task="difference")
    # In the meantime, another run stores a different description of the entry.
    EntryDescription.objects.update(text="Something else.")
    done = run_worker.run_to_end(run.pk, give_up_after=60)
    assert done.match_confirmed_by and len(standin.calls(billed=True)) == 3


@pytest.mark.slow
def test_it_is_marked_apart_on_pages_and_in_the_api(
    standin: StandIn, version: Version, as_reviewer: Client, reviewer: User
) -> None:
    run = carry_out(by=reviewer)
    page = as_reviewer.get(f"/runs/{run.pk}/").content.decode()
    assert "match confirmed by a model" in page and "demo-smith" in page
    assert "described without seeing the request" in page
    assert "demo model" in page, "the judge is named as what it is"
    assert "match confirmed by a model" in as_reviewer.get("/actions/").content.decode()
    report = as_reviewer.get(f"/api/v1/runs/{run.pk}/").json()
    assert report["match_confirmed_by"] == "demo-smith" and report["origin"] == "retrieved"
    (listed,) = as_reviewer.get("/api/v1/runs/").json()["results"]
    assert listed["match_confirmed_by"] == "demo-smith"
    (action,) = as_reviewer.get("/api/v1/actions/").json()["results"]
    assert action["answer"]["status"] == "verified" and action["answer"]["confirmed_match"] is True
    assert as_reviewer.post(f"/runs/{run.pk}/confirm-match/").status_code == 302
    label = MatchLabel.objects.get()
    assert (label.label, label.confirmed_by) == ("match", "demo-smith")
    assert label.confidence is not None and label.confidence < 0.82, "what scoring said"
    assert count_shown([version.pk])[version.pk].match == 1


def test_retrieval_is_unchanged(version: Version, client_for: ClientFor, reviewer: User) -> None:
    found = as_document(catalogue.retrieve(ASKED))
    assert found["answer"] == "adapt"
    assert set(found["matches"][0]) == {
        "entry", "version", "statement", "script", "confidence", "reasons", "differs",
    }  # fmt: skip
