"""Erasing an Action's texts: words go, everywhere; counts and hashes stay."""

from __future__ import annotations

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection

from core.errors import NotAllowedNow
from pipeline import services
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
