"""Tests for reading actions, runs, drafts and configurations through the API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from core.web.public_keys import DRAFT, public_key
from pipeline import services
from pipeline.models import Run
from tests.keys import shown
from tests.make import SCRIPT, make_answered_run, make_draft, make_run, make_version
from tests.query_counts import count_queries

pytestmark = pytest.mark.django_db


def test_full_run_has_document_of_command(client: Client, reviewer: User) -> None:
    refined = SCRIPT.replace("-mtime", "-mmin")
    run = make_run(by=reviewer, verdict="incorrect", feedback="- Minutes.", refined=refined)
    said = client.get(f"/api/v1/runs/{run.pk}/").json()
    assert said["run"] == run.pk
    assert said["action"] == run.action_id
    assert said["origin"] == "generated"
    assert said["verdict"] == "incorrect"
    assert said["recommended"] == 2
    assert said["script"] == refined
    assert [draft["kind"] for draft in said["drafts"]] == ["generated", "refined"]
    assert said["drafts"][1]["id"] == public_key(DRAFT, run.recommended_id)
    assert said["matches"] == []


def test_a_match_is_told_with_its_reasons(client: Client, reviewer: User) -> None:
    run = make_answered_run(make_version(), by=reviewer, reasons=["same words"], fills={"N": "45"})
    said = client.get(f"/api/v1/runs/{run.pk}/").json()
    assert said["origin"] == "retrieved"
    assert said["matches"][0]["entry"] == "delete-old-files-in-a-directory"
    assert said["matches"][0]["reasons"] == ["same words"]
    assert said["matches"][0]["fills"] == {"N": "45"}


def test_a_draft_has_its_assessment_and_feedback(client: Client, reviewer: User) -> None:
    run = make_run(by=reviewer, verdict="incorrect", feedback="- Minutes.", refined="uptime\n")
    first, second = run.drafts.all()
    said = client.get(f"/api/v1/drafts/{shown(first)}/").json()
    assert said["assessment"]["verdict"] == "incorrect"
    assert said["assessment"]["differences"] == ["It looks at another directory."]
    assert said["feedback"][0]["text"] == "- Minutes."
    assert client.get(f"/api/v1/drafts/{shown(second)}/").json()["made_from"] == 1


def test_list_of_runs_is_narrowed_by_its_query(client: Client, reviewer: User) -> None:
    passed = make_run(by=reviewer)
    flagged = make_run(by=reviewer, verdict="incorrect")
    queued = services.start_run(passed.action, by=reviewer, enqueue=False)
    names = {passed.pk: "passed", flagged.pk: "flagged", queued.pk: "queued"}
    cases = {
        "": "passed flagged queued",
        "state=queued": "queued",
        "verdict=incorrect": "flagged",
        "configuration=demo": "passed flagged queued",
        "configuration=other": "",
        "demo=false": "",
    }
    for query, expected in cases.items():
        said = client.get(f"/api/v1/runs/?{query}").json()
        assert {names[row["id"]] for row in said["results"]} == set(expected.split()), query


def test_runs_of_one_action_are_listed_or_not_found(client: Client, reviewer: User) -> None:
    run, _other = make_run(by=reviewer), make_run(by=reviewer)
    said = client.get("/api/v1/runs/", {"action": run.action_id}).json()
    assert [row["id"] for row in said["results"]] == [run.pk]
    for address in ("runs/999999/", "runs/x/", "drafts/0/", "actions/-1/"):
        assert client.get(f"/api/v1/{address}").status_code == 404, address


def test_unknown_filter_is_refused_with_its_field(client: Client) -> None:
    for address in ("runs/?state=elsewhere", "runs/?action=x", "actions/?verdict=perfect"):
        response = client.get(f"/api/v1/{address}")
        assert response.status_code == 422, address
        assert f"?{response.json()['error']['field']}=" in address


def test_configurations_are_known_to_who_asks(client: Client, as_stranger: Client) -> None:
    said = client.get("/api/v1/configurations/demo/").json()
    assert said["is_usable"] is True
    assert [role["role"] for role in said["roles"]] == ["generator", "assessor", "refiner"]
    assert as_stranger.get("/api/v1/configurations/").status_code == 403


@pytest.mark.slow
def test_reading_takes_a_fixed_number_of_queries(client: Client, reviewer: User) -> None:
    run = make_run(by=reviewer)
    addresses = ["/api/v1/actions/", "/api/v1/runs/", f"/api/v1/runs/{run.pk}/"]
    few = [count_queries(client, address) for address in addresses]
    for number in range(30):
        make_run(by=reviewer, statement=f"Statement {number}")
    assert [count_queries(client, address) for address in addresses] == few
    assert max(few) <= 12


def test_draft_between_reads_breaks_nothing(reviewer: User, as_reviewer: Client) -> None:
    """A worker commits another draft before each query for the run's drafts."""
    run = make_run(by=reviewer)
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING)
    wrote: list[int] = []
    is_writing = False

    def write_one(
        execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any
    ) -> Any:
        nonlocal is_writing
        if 'FROM "pipeline_draft"' in sql and not is_writing:
            is_writing = True
            number = len(wrote) + 1
            wrote.append(make_draft(run, script="uptime\n", kind="generated", round=number).pk)
            is_writing = False
        return execute(sql, params, many, context)

    with connection.execute_wrapper(write_one):
        answer = as_reviewer.get(f"/api/v1/runs/{run.pk}/")
    assert answer.status_code == 200
    told = answer.json()["drafts"]
    assert len(wrote) > 1 and len(told) > 1, "drafts came between two reads"
    drafts = run.drafts.values_list("pk", "number")
    numbers = {public_key(DRAFT, pk): number for pk, number in drafts}
    assert [(one["id"], one["number"]) for one in told] == list(numbers.items())[: len(told)]
