"""Tests that erasing an Action's texts removes them everywhere but keeps counts and hashes."""

from __future__ import annotations

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection

from catalog.evidence.services import request_run
from catalog.models import CaseRun, EntryCases, Execution, Version
from catalog.services import keep_case_set
from core.errors import NotAllowedNow
from core.leased_jobs import LostLease, claim
from pipeline import services
from pipeline.models import Action, Run
from tests.catalog.execution.cases.writing import case_data, make_set
from tests.catalog.shelf import shelve
from tests.make import make_run
from tests.web_client import WebClient

pytestmark = pytest.mark.django_db
SECRET = "rotate the password of the account zebra-7781"


def test_the_words_are_gone_and_the_rows_stay(administrator: User) -> None:
    run = make_run(
        statement=SECRET, script=f"echo '{SECRET}'\n", feedback=SECRET, verdict="incorrect"
    )
    services.erase_action(run.action, by=administrator)
    with connection.cursor() as cursor:
        for table, column in (
            ("pipeline_action", "statement"),
            ("pipeline_draft", "script"),
            ("pipeline_feedback", "text"),
            ("auditlog_logentry", "object_repr"),
        ):
            cursor.execute(f"SELECT count(*) FROM {table} WHERE {column} LIKE '%zebra-7781%'")
            assert cursor.fetchone() == (0,), table
    run.refresh_from_db()
    assert run.drafts.count() == 1 and run.action.statement_sha256 and run.verdict == "incorrect"
    assert LogEntry.objects.get_for_object(run.action).count() == 1
    with pytest.raises(NotAllowedNow):
        services.erase_action(run.action, by=administrator)


def test_what_its_scripts_did_is_forgotten_but_not_what_others_have(administrator: User) -> None:
    case_set = keep_case_set(make_set(case_data(about="zebra"), statement=SECRET), by=None)
    own, shared, known = f"echo '{SECRET}'\n", "echo shared\n", "echo known\n"
    erased = [make_run(statement=SECRET, script=one) for one in (own, shared, known)]
    make_run(statement="Somebody else's", script=shared)
    entry = shelve("Print what is known", script=known).entry
    EntryCases.objects.create(entry=entry, case_set=case_set)
    for run in erased:
        draft = run.drafts.get()
        request_run(draft.script, case_set, purpose=CaseRun.Purpose.DRAFT)
        made = Execution.objects.create(
            script_sha256=draft.sha256, case_set=case_set, state="passed", document={"seen": SECRET}
        )
        made.checks.create(case_number=1, number=1, sentence="prints", state="failed", got=SECRET)
    held = claim(CaseRun, CaseRun.objects.get(script=own).pk)
    for run in erased:
        services.erase_action(run.action, by=administrator)
    assert set(CaseRun.objects.filter(state="waiting").values_list("script", flat=True)) == {
        shared,
        known,
    }
    assert CaseRun.objects.get(state="cancelled").script == ""
    left = Execution.objects.values_list("script_sha256", flat=True)
    assert set(left) == {Version.hash_of(shared), Version.hash_of(known)}
    with pytest.raises(LostLease):
        held.note()


@pytest.fixture
def run(reviewer: User) -> Run:
    return make_run(by=reviewer, statement=SECRET)


@pytest.fixture
def client(administrator: User) -> WebClient:
    client = WebClient()
    client.force_login(administrator)
    return client


def test_confirmed_erasure_removes_texts(client: WebClient, run: Run, administrator: User) -> None:
    address = f"/actions/{run.action_id}/erase/"
    assert address in client.get(f"/actions/{run.action_id}/").text
    page = client.get(address).text
    assert "zebra-7781" in page and "texts of its run" in page
    answer = client.post(address, {"confirmed": f"erase {run.action_id}"}, follow=True)
    assert answer.redirect_chain == [(f"/actions/{run.action_id}/", 302)]
    assert "Texts erased." in answer.text and "zebra-7781" not in answer.text
    assert address not in answer.text, "there is nothing left to erase"
    action = Action.objects.get(pk=run.action_id)
    assert (action.statement, action.erased_by) == ("", administrator)
    assert action.erased_at is not None
    (line,) = LogEntry.objects.get_for_object(action)
    assert (line.actor, line.additional_data) == (administrator, {"event": "texts erased"})
    # Erased texts cannot be erased again.
    assert client.get(address)["Location"] == f"/actions/{run.action_id}/"
    assert client.post(address, {"confirmed": f"erase {run.action_id}"}).status_code == 409


def test_action_is_not_erased_without_its_number(client: WebClient, run: Run) -> None:
    address = f"/actions/{run.action_id}/erase/"
    client.get(address)
    for typed in ("", "erase", "erase 1234567", "1"):
        answer = client.post(address, {"confirmed": typed})
        assert answer.status_code == 422, typed
        assert "zebra-7781" in answer.text
    assert Action.objects.get().statement and not LogEntry.objects.get_for_object(run.action)


def test_a_run_under_way_comes_first(client: WebClient, run: Run) -> None:
    """A run in progress would write new texts after the erasure."""
    Run.objects.create(action=run.action, configuration=run.configuration)
    address = f"/actions/{run.action_id}/erase/"
    client.get(address)
    answer = client.post(address, {"confirmed": f"erase {run.action_id}"})
    assert answer.status_code == 409 and "in progress" in answer.text
    assert Action.objects.get().statement


def test_only_administrators_are_shown_the_way_to_it(reviewer: User, run: Run) -> None:
    client = WebClient()
    client.force_login(reviewer)
    assert "/erase/" not in client.get(f"/actions/{run.action_id}/").text
    assert client.get(f"/actions/{run.action_id}/erase/").status_code == 403
