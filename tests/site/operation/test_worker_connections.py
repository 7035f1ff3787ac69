"""A worker's threads keep their connection to the database from task to task, and leave a dead one."""

from __future__ import annotations

import pytest
from celery.fixups.django import DjangoWorkerFixup
from celery.signals import task_postrun, task_prerun
from django.db import connection

from pipeline.tasks import sweep_runs
from scriptsmith_site.celery import app


@pytest.fixture
def fixup() -> DjangoWorkerFixup:
    """What Celery does around each task of a project with Django."""
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
    connection.connection.close()  # as when the server was restarted
    end_a_task(fixup)
    assert backend() != before
