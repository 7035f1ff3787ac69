"""Tests that a worker's threads keep their database connection between tasks and replace a broken one."""

from __future__ import annotations

import pytest
from celery.fixups.django import DjangoWorkerFixup
from celery.signals import task_postrun, task_prerun
from django.db import connection

from pipeline.tasks import sweep_runs
from scriptsmith_site.celery import app


@pytest.fixture
def fixup() -> DjangoWorkerFixup:
    """Return Celery's Django fixup, which runs around each task."""
    return DjangoWorkerFixup(app)


def end_a_task(fixup: DjangoWorkerFixup) -> None:
    fixup.on_task_postrun(sweep_runs)
    task_postrun.send(sender=sweep_runs, task=sweep_runs)
    fixup.on_task_prerun(sweep_runs)
    task_prerun.send(sender=sweep_runs, task=sweep_runs, args=())


def backend() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_next_task_keeps_the_connection_unless_it_died(fixup: DjangoWorkerFixup) -> None:
    before = backend()
    end_a_task(fixup)
    assert backend() == before
    connection.connection.close()  # simulates a restart of the server
    end_a_task(fixup)
    assert backend() != before
