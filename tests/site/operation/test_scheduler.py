"""Tests that the scheduler sends tasks rarely as a safety net, and often while there is work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from celery import Celery
from celery.beat import PersistentScheduler
from django.conf import settings
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from pipeline import services
from pipeline.models import Batch, Endpoint, MessageBatch
from review.models import Campaign, TallyDue
from scriptsmith_site import pending_work, scheduler, scheduler_thread
from scriptsmith_site.models import (
    AlertDelivery,
    AlertSource,
    Delivery,
    Destination,
    Event,
    Mirror,
    MirrorBranch,
    Notification,
)
from scriptsmith_site.scheduler import SignallingScheduler
from tests.make import make_action

_EVENT = {"type": "entry.verified", "model": "catalog.version", "object_id": 1}


def make_run(_owner: User) -> None:
    services.start_run(make_action(), by=None, enqueue=False)


def make_message_batch(_owner: User) -> None:
    batch = Batch.objects.create(name="a batch")
    MessageBatch.objects.create(
        batch=batch, endpoint=Endpoint.objects.get(name="demo"), requests=1, reserved=1
    )


def make_tally_due(_owner: User) -> None:
    TallyDue.objects.create(campaign=Campaign.objects.get(), first=1, last=2)


def make_event(_owner: User) -> None:
    Event.objects.create(**_EVENT)


def make_delivery(owner: User) -> None:
    Delivery.objects.create(
        destination=Destination.objects.create(name="pager", types=[], owner=owner),
        event=Event.objects.create(**_EVENT, distributed_at=timezone.now()),
        subject="x",
        sequence=1,
    )


def make_mirror(owner: User) -> None:
    Mirror.objects.create(address="/repositories/mirror.git", branch="main", owner=owner)


def make_alert(_owner: User) -> None:
    source = AlertSource.objects.create(kind="grafana", name="Ours")
    AlertDelivery.objects.create(source=source, raw="{}", key="k")


def make_mail(owner: User) -> None:
    Notification.objects.create(
        person=owner, kind="k", model="m", object_id=1, mail_at=timezone.now()
    )


def make_branch(owner: User) -> None:
    MirrorBranch.objects.create(branch="since", by=owner)


@pytest.fixture
def nothing_pending(db: None) -> None:
    Event.objects.update(distributed_at=timezone.now())
    assert pending_work.pending() == set()


@pytest.mark.usefixtures("nothing_pending")
@pytest.mark.parametrize(
    ("make", "tasks"),
    [
        pytest.param(
            make_run,
            {"sweep-runs", "advance-message-batches", "take-in-finished-runs", "prepare-items"},
            id="an unfinished run",
        ),
        pytest.param(make_message_batch, {"advance-message-batches"}, id="a message batch"),
        pytest.param(make_tally_due, {"count-due"}, id="a tally"),
        pytest.param(make_event, {"distribute-events"}, id="an event"),
        pytest.param(make_delivery, {"distribute-events"}, id="a delivery"),
        pytest.param(make_mirror, {"write-mirror"}, id="a mirror"),
        pytest.param(make_alert, {"take-in-missed-alerts"}, id="a request of a source"),
        pytest.param(make_mail, {"send-due-mail"}, id="an email"),
        pytest.param(make_branch, {"read-missed-mirror-branches"}, id="a branch"),
    ],
)
def test_task_is_pending_while_its_rows_exist(
    administrator: User,
    make: Callable[[User], None],
    tasks: set[str],
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    Event.objects.update(distributed_at=timezone.now())
    make(administrator)
    with django_assert_num_queries(1):
        found = pending_work.pending()
    assert found - {"distribute-events"} == tasks - {"distribute-events"}
    assert tasks <= found


@pytest.mark.django_db
def test_question_uses_the_partial_index_of_unfinished_runs() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = on")
        cursor.execute("EXPLAIN " + pending_work._query()[1])
        plan = "\n".join(line for (line,) in cursor.fetchall())
    for index in ("run_unfinished", "event_undistributed", "message_batch_unfinished"):
        assert index in plan


def test_every_task_with_two_intervals_is_scheduled_and_waits_longer_without_work() -> None:
    assert set(pending_work._work()) == set(settings.SCRIPTSMITH_INTERVALS_WITH_WORK)
    for name, seconds in settings.SCRIPTSMITH_INTERVALS_WITH_WORK.items():
        assert seconds < settings.CELERY_BEAT_SCHEDULE[name]["schedule"] <= 60


class Sends(SignallingScheduler):
    """A scheduler that records the tasks it would send."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self.sent: list[str] = []
        super().__init__(*arguments, **options)

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        self.sent.append(entry.name)

    @property
    def producer(self) -> None:
        """Prevent a connection to a broker."""

    def pass_all(self) -> list[str]:
        """Return the tasks that are sent until no task is due."""
        self.sent.clear()
        self._looked_at = 0.0
        while self.tick() == 0:
            pass
        return sorted(self.sent)


@pytest.fixture
def sends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sends:
    app = Celery("sends", broker="memory://", set_as_current=False)
    app.conf.timezone = "UTC"
    app.conf.beat_schedule = {
        name: {"task": name, "schedule": 3600.0} for name in ("sweep-runs", "count-due", "curate")
    }
    monkeypatch.setattr(scheduler, "leave_sign", lambda _part: None)
    monkeypatch.setattr(scheduler, "close_old_connections", lambda: None)
    monkeypatch.setattr(scheduler, "pending", set)
    monkeypatch.setattr(
        settings, "SCRIPTSMITH_INTERVALS_WITH_WORK", {"sweep-runs": 0.0, "count-due": 600.0}
    )
    made = Sends(app, schedule_filename=str(tmp_path / "schedule"))
    assert made.pass_all() == []
    return made


def test_tasks_are_sent_often_only_while_due(sends: Sends, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scheduler, "pending", lambda: {"sweep-runs", "count-due"})
    assert sends.pass_all() == ["sweep-runs"]
    assert sends.pass_all() == ["sweep-runs"]
    monkeypatch.setattr(scheduler, "pending", set)
    assert sends.pass_all() == []
    heap = sends._heap
    monkeypatch.setattr(PersistentScheduler, "schedules_equal", pytest.fail)
    sends.pass_all()
    assert sends._heap is heap


def test_tasks_are_sent_often_while_the_database_does_not_answer(
    sends: Sends, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> set[str]:
        raise OperationalError

    monkeypatch.setattr(scheduler, "pending", fail)
    monkeypatch.setattr(scheduler.connection, "close", lambda: None)
    assert [sends.pass_all(), sends.pass_all()] == [["sweep-runs"]] * 2
    assert caplog.text.count("can't query the database for work") == 1


def test_thread_schedules_again_after_an_error_and_ends_when_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    runs, is_running = [], threading.Event()

    class Service:
        def __init__(self, *_arguments: object, **_options: object) -> None:
            self.ends = threading.Event()

        def start(self) -> None:
            runs.append(self)
            if len(runs) == 1:
                raise RuntimeError("no schedule")
            is_running.set()
            self.ends.wait(60)

        def stop(self) -> None:
            self.ends.set()

    monkeypatch.setattr(scheduler_thread, "Service", Service)
    monkeypatch.setattr(scheduler_thread, "_RESTART_AFTER", 0.0)
    thread = scheduler_thread._Thread(Celery(set_as_current=False), str(tmp_path / "schedule"))
    thread.start()
    assert is_running.wait(60)
    thread.stop()
    assert not thread.is_alive()
    assert len(runs) == 2 and "the scheduler restarts" in caplog.text
