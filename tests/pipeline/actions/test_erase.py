"""Erasing an Action's texts: words go, everywhere; counts and hashes stay."""

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
from tests.catalog.execution.cases.writing import case_data, make_set
from tests.catalog.shelf import shelve
from tests.make import make_run

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


def test_once_is_enough(administrator: User) -> None:
    run = make_run()
    services.erase_action(run.action, by=administrator)
    with pytest.raises(NotAllowedNow):
        services.erase_action(run.action, by=administrator)


@pytest.mark.slow
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
    assert held is not None
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
