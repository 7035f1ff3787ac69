"""A run is read while a worker writes its next draft: what was written meanwhile breaks nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from core.web.public_keys import DRAFT, public_key
from pipeline.models import Run
from tests.make import make_draft, make_run

pytestmark = pytest.mark.django_db


def test_draft_between_reads_breaks_nothing(reviewer: User, as_reviewer: Client) -> None:
    """Before each statement about the run's drafts, a worker commits one more."""
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
