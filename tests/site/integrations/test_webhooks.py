"""Tests that events are sent to a program on loopback, which verifies them as receivers do."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from catalog import services as catalog
from catalog.entries.services import deprecate, record_outcome, submit_for_review
from catalog.models import Version
from core.audit import emit
from core.errors import BadInput, NotAllowedNow
from core.process import owner
from pipeline.models import Run
from pipeline.services import erase_action
from scriptsmith_site.integrations.notifications.telling import tell_people
from scriptsmith_site.integrations.outbox import delivery as delivering
from scriptsmith_site.integrations.outbox import services
from scriptsmith_site.integrations.outbox.events import distribution, expiry
from scriptsmith_site.integrations.outbox.events.subjects import Subject
from scriptsmith_site.integrations.outbox.transport.sending import read_wait
from scriptsmith_site.models import Delivery, DeliveryAttempt, Destination, Event
from tests.make import make_run, make_version
from tests.ports import free_port
from tests.site.integrations.conftest import MakeDestination, work
from tests.site.integrations.receiver import Receiver, is_genuine

pytestmark = pytest.mark.django_db

SCRIPT_WORD = "exports"  # a word in every script from the test factories


def finish(run: Run) -> None:
    """Emit the event that a worker emits when a run finishes."""
    emit(run, "finished")


def move_clock(monkeypatch: pytest.MonkeyPatch, ahead: timedelta) -> None:
    monkeypatch.setattr(timezone, "now", lambda: datetime.now(UTC) + ahead)


def test_what_happens_arrives_signed_in_order_and_without_texts(
    webhook: Destination, receiver: Receiver, curator: User, administrator: User, settings: Settings
) -> None:
    run = make_run(statement="Delete the exports of a customer", by=administrator)
    finish(run)
    version = make_version(by=curator)
    deprecate(version, by=curator, reason="It is old.")
    submit_for_review(version, by=curator)
    work()
    assert receiver.types == ["run.finished", "version.deprecated", "version.submitted"]
    assert all(one.is_signed for one in receiver.received)
    first, second, third = (one.document for one in receiver.received)
    assert first["data"] == {
        "sequence": 1,
        "object": f"run:{run.pk}",
        "run": run.pk,
        "action": run.action_id,
        "state": "done",
        "link": f"https://scripts.example.org/runs/{run.pk}/",
    }
    assert [one["data"]["sequence"] for one in (second, third)] == [1, 2]
    assert second["data"]["entry"] == version.entry_id
    assert version.entry.slug not in json.dumps(second), "a slug is made of the title's words"
    assert not any(SCRIPT_WORD in one.body.decode() for one in receiver.received)
    work()
    assert len(receiver.received) == 3, "nothing is sent twice"
    webhook.refresh_from_db()
    assert webhook.last_success_at and not webhook.last_error and webhook.lease_owner == ""


def test_an_event_is_part_of_what_it_tells_of(webhook: Destination, curator: User) -> None:
    version = make_version(by=curator)
    with pytest.raises(RuntimeError), transaction.atomic():
        deprecate(version, by=curator, reason="It is old.")
        raise RuntimeError
    assert not Event.objects.exists()
    with pytest.raises(BadInput):
        deprecate(version, by=curator, reason="")
    assert not Event.objects.exists()


def test_texts_are_sent_only_where_they_may_be_and_not_after_they_were_erased(
    make_destination: MakeDestination, receiver: Receiver, administrator: User
) -> None:
    make_destination("pager", includes_texts=True)
    run = make_run(statement="Delete\r\nthe exports\u202e", by=administrator)
    finish(run)
    receiver.says = b"I was told: Delete the exports"
    receiver.answer = lambda _document: 500
    work()
    assert receiver.received[0].document["data"]["title"] == "Delete the exports"
    assert "exports" in DeliveryAttempt.objects.get().answer
    version = make_version(by=administrator)
    Version.objects.update(provenance={"run": run.pk, "action": run.action_id})
    emit(version.entry, "entry suspended")
    work()
    assert DeliveryAttempt.objects.exclude(answer="").count() == 2
    erase_action(run.action, by=administrator)
    assert not DeliveryAttempt.objects.exclude(answer="").exists(), "also of the entry it led to"
    Delivery.objects.update(next_at=timezone.now())
    receiver.says = b""
    work()
    again = [one for one in receiver.received[2:] if one.id == receiver.received[0].id]
    assert [one.document["data"]["title"] for one in again] == [""]


@pytest.mark.parametrize(
    ("an_hour", "objects"),
    [(1, 3), pytest.param(60, 50, marks=pytest.mark.nightly, id="1,200 events of 50 objects")],
)
def test_a_receiver_that_is_down_for_twenty_hours_gets_everything_once_in_the_order_of_each_object(
    an_hour: int,
    objects: int,
    webhook: Destination,
    receiver: Receiver,
    administrator: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    there = webhook.address
    Destination.objects.update(address=f"http://127.0.0.1:{free_port()}/in")
    runs = [make_run(statement=f"List {number}", by=administrator) for number in range(objects)]
    for hour in range(20):
        move_clock(monkeypatch, timedelta(hours=hour))
        for number in range(an_hour):
            emit(runs[(hour * an_hour + number) % objects], "finished")
        work()
    assert not receiver.received
    webhook.refresh_from_db()
    assert webhook.failing_since and "connection failed" in webhook.last_error
    assert webhook.paused_at is None, "only after three days"
    Destination.objects.update(address=there)
    move_clock(monkeypatch, timedelta(hours=30))
    work()
    assert len(receiver.received) == 20 * an_hour
    assert len({one.id for one in receiver.received}) == 20 * an_hour
    for run in runs:
        sent = [one.document["data"] for one in receiver.received]
        numbers = [one["sequence"] for one in sent if one["run"] == run.pk]
        assert numbers == list(range(1, len(numbers) + 1))
    assert not Delivery.objects.exclude(state=Delivery.State.DELIVERED).exists()


def test_later_events_of_an_object_wait_and_others_do_not(
    webhook: Destination, receiver: Receiver, administrator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused, other = (make_run(by=administrator) for _number in range(2))
    receiver.answer = lambda one: 500 if one["data"]["run"] == refused.pk else 200
    for run in (refused, other, refused, other):
        finish(run)
    work()
    assert [one.document["data"]["run"] for one in receiver.received] == [
        refused.pk,
        other.pk,
        other.pk,
    ]
    # After twelve attempts over three days, the next event of this object is sent.
    for pause in delivering.PAUSES:
        finish(other)
        move_clock(monkeypatch, pause_ahead := _ahead() + pause + timedelta(seconds=1))
        work()
        assert pause_ahead < timedelta(days=4)
    first = Delivery.objects.filter(subject=f"run:{refused.pk}").order_by("pk")[0]
    assert (first.state, first.attempts.count()) == (Delivery.State.FAILED, 12)
    assert timedelta(hours=70) < sum(delivering.PAUSES, timedelta()) <= timedelta(hours=72)
    webhook.refresh_from_db()
    assert webhook.paused_at is None, "it takes the others"


def _ahead() -> timedelta:
    return timezone.now() - datetime.now(UTC)


def test_after_three_days_of_failure_it_is_paused_and_its_owner_is_told(
    webhook: Destination, receiver: Receiver, administrator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver.answer = lambda _document: 503
    run = make_run(by=administrator)
    for day in range(4):
        move_clock(monkeypatch, timedelta(days=day))
        finish(run)
        Delivery.objects.update(next_at=datetime.now(UTC))
        work()
    webhook.refresh_from_db()
    assert webhook.paused_at and "three days" in webhook.paused_why
    assert [one.kind for one in administrator.notifications.all()] == ["paused"]
    tried = len(receiver.received)
    receiver.answer = lambda _document: 200
    finish(run)
    work()
    assert len(receiver.received) == tried, "nothing is sent while it is paused"
    services.resume(webhook, by=administrator)
    work()
    waited = receiver.received[tried:]
    numbers = [one.document["data"]["sequence"] for one in waited]
    assert numbers == sorted(numbers) and numbers[-1] == 5


def test_nothing_is_given_up_while_nothing_arrives_and_a_failed_test_is_no_outage(
    webhook: Destination, receiver: Receiver, administrator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver.answer = lambda _document: 503
    services.send_test(webhook, by=administrator)
    work()
    webhook.refresh_from_db()
    assert webhook.last_error and webhook.failing_since is None
    move_clock(monkeypatch, timedelta(days=7))
    first, second = make_run(by=administrator), make_run(by=administrator)
    finish(first)
    for hour in range(0, 75, 3):
        move_clock(monkeypatch, timedelta(days=7, hours=hour))
        work()
    webhook.refresh_from_db()
    assert webhook.paused_at and webhook.paused_at - webhook.failing_since >= timedelta(days=3)
    assert Delivery.objects.get(event__type="run.finished").state == Delivery.State.WAITING
    expired = timedelta(days=60)
    move_clock(monkeypatch, expired)
    expiry.delete_old_events()
    receiver.answer = lambda _document: 204
    finish(second)
    services.resume(webhook, by=administrator)
    work()
    sent = [one.document["data"] for one in receiver.received[-2:]]
    assert {one["run"] for one in sent} == {first.pk, second.pk}, "what waits outlives its time"


def test_one_that_is_away_is_tried_once_at_a_time_whatever_waits(
    webhook: Destination, receiver: Receiver, administrator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    receiver.answer = lambda _document: 503
    for _number in range(6):
        finish(make_run(by=administrator))
    work()
    assert len(receiver.received) == 1
    assert delivering.destinations_with_work() == []
    move_clock(monkeypatch, delivering.PROBES[0] + timedelta(seconds=1))
    work()
    tried = [one.document["data"]["run"] for one in receiver.received]
    assert len(set(tried)) == 2, "each time another one: one event may be what it can't take"
    receiver.answer = lambda _document: 204
    move_clock(monkeypatch, timedelta(minutes=10))
    work()
    assert not Delivery.objects.exclude(state=Delivery.State.DELIVERED).exists()
    webhook.refresh_from_db()
    assert (webhook.failures, webhook.retry_at, webhook.failing_since) == (0, None, None)


def test_administrators_are_told_of_what_is_given_up(
    webhook: Destination, receiver: Receiver, administrator: User, curator: User
) -> None:
    Destination.objects.update(owner=curator)
    for _number in range(2):
        finish(make_run(by=curator))
    receiver.answer = lambda _document: 400
    tries = Delivery.objects.all()
    work()
    Destination.objects.update(failing_since=None, failures=0, retry_at=None)
    tries.update(next_at=timezone.now(), tries=len(delivering.PAUSES))
    for _number in range(2):
        work()
        Destination.objects.update(failing_since=None, failures=0, retry_at=None)
    assert {one.state for one in tries} == {Delivery.State.FAILED}
    assert [one.kind for one in administrator.notifications.all()] == ["gave_up"], "once a day"
    assert not curator.notifications.exists()


def test_an_event_that_cannot_be_distributed_holds_up_nothing_but_its_own_object(
    webhook: Destination, receiver: Receiver, administrator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, other = make_run(by=administrator), make_run(by=administrator)

    def tell_or_raise(event: Event, subject: Subject | None) -> None:
        if event.model == "pipeline.run" and event.object_id == broken.pk:
            raise RuntimeError("a defect")
        tell_people(event, subject)

    for run in (broken, broken, other):
        finish(run)
    distribution.distribute(tell_or_raise)
    work()
    assert [one.document["data"]["run"] for one in receiver.received] == [other.pk]
    first, second = Event.objects.filter(object_id=broken.pk).order_by("pk")
    assert (first.failures, second.failures) == (1, 0), "its later one waits"
    for hour in range(1, 6):
        move_clock(monkeypatch, timedelta(hours=hour))
        distribution.distribute(tell_or_raise)
    first.refresh_from_db()
    assert first.distributed_at and "a defect" in first.problem
    assert [one.kind for one in administrator.notifications.all()] == ["set_aside"]


def test_a_defect_of_our_own_is_a_failed_try(
    webhook: Destination, receiver: Receiver, administrator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    finish(make_run(by=administrator))
    with monkeypatch.context() as broken:
        broken.setattr(delivering, "body_of", lambda *_given, **_named: 1 / 0)
        work()
    [attempt] = DeliveryAttempt.objects.all()
    assert "ZeroDivisionError" in attempt.error and attempt.ended_at
    assert Delivery.objects.get().next_at > timezone.now() + timedelta(seconds=5)


def test_events_of_an_object_go_out_by_their_number_and_not_by_when_they_were_written(
    webhook: Destination, receiver: Receiver, administrator: User
) -> None:
    run = make_run(by=administrator)
    finish(run)
    # The transaction with the first event ended after the transaction with the second event.
    late = Event.objects.filter(pk=Event.objects.latest("pk").pk)
    late.update(retry_at=timezone.now() + timedelta(hours=1))
    finish(run)
    Destination.objects.update(paused_at=timezone.now())
    work()
    late.update(retry_at=None)
    work()
    assert late.get().sequence == 2
    services.resume(webhook, by=administrator)
    work()
    assert [one.document["data"]["sequence"] for one in receiver.received] == [1, 2]


def test_after_a_change_of_the_key_a_new_secret_is_all_it_takes(
    webhook: Destination, receiver: Receiver, administrator: User, settings: Settings
) -> None:
    settings.SECRET_KEY = "another key, which has more than thirty-two characters"
    finish(make_run(by=administrator))
    work()
    assert not receiver.received and "SECRET_KEY" in DeliveryAttempt.objects.get().error
    receiver.secret = services.rotate_secret(webhook, by=administrator).secret
    Delivery.objects.update(next_at=timezone.now())
    work()
    [sent] = receiver.received
    assert sent.is_signed


def test_receiver_that_asks_for_a_pause_gets_it(
    webhook: Destination, receiver: Receiver, administrator: User
) -> None:
    finish(make_run(by=administrator))
    for retry_after, seconds in (("900", 900), ("0", 10), ("99999999999", 6 * 3_600), ("soon", 10)):
        Destination.objects.update(failing_since=None, failures=0, retry_at=None)
        Delivery.objects.update(next_at=timezone.now(), tries=0)
        receiver.answer, receiver.retry_after = lambda _document: 429, retry_after
        before = timezone.now()
        work()
        webhook.refresh_from_db()
        waits = (webhook.retry_at - before).total_seconds()
        assert seconds <= waits < seconds + 8, retry_after
        assert Delivery.objects.get().next_at >= webhook.retry_at - timedelta(seconds=1)


def test_pause_is_read_as_seconds_or_a_date() -> None:
    now = datetime(2026, 11, 23, 12, tzinfo=UTC)
    table = {
        b"Mon, 23 Nov 2026 12:05:00 GMT": timedelta(minutes=5),
        b"Mon, 23 Nov 2026 11:00:00 GMT": timedelta(),
        b"Mon, 99 Nov 2026 11:00:00 GMT": None,
        b"": None,
        b"-5": None,
        b"900": timedelta(minutes=15),
    }
    assert {text: read_wait([(b"Retry-After", text)], now=now) for text in table} == table


def test_a_new_secret_and_the_former_one_both_sign_for_a_day(
    webhook: Destination, receiver: Receiver, administrator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    former = receiver.secret
    made = services.rotate_secret(webhook, by=administrator)
    assert made.secret != former
    finish(run := make_run(by=administrator))
    work()
    [sent] = receiver.received
    assert sent.is_signed and is_genuine(made.secret, sent.body, sent.headers)
    assert len(sent.headers["webhook-signature"].split(" ")) == 2
    move_clock(monkeypatch, timedelta(hours=25))
    finish(run)
    work()
    assert " " not in receiver.received[1].headers["webhook-signature"]
    stored = Destination.objects.values_list("secret", flat=True).get()
    assert made.secret.encode() not in bytes(stored)


def test_answers_of_a_receiver_are_reported_and_cut_and_410_pauses_it(
    webhook: Destination, receiver: Receiver, administrator: User
) -> None:
    receiver.says = b"\0<script>" + b"x" * 5_000
    receiver.location = "http://169.254.169.254/"
    receiver.answer = lambda _document: 302
    finish(make_run(by=administrator))
    work()
    [attempt] = DeliveryAttempt.objects.all()
    assert "redirect" in attempt.error and attempt.status == 302
    assert len(attempt.answer.encode()) <= 1_100 and "\0" not in attempt.answer
    assert len(receiver.received) == 1
    receiver.answer, receiver.location = lambda _document: 410, ""
    Destination.objects.update(failing_since=None, failures=0, retry_at=None)
    Delivery.objects.update(next_at=timezone.now())
    work()
    webhook.refresh_from_db()
    assert "410" in webhook.paused_why


def test_a_worker_that_is_killed_leaves_its_try_and_the_next_one_sends_it(
    webhook: Destination, receiver: Receiver, administrator: User
) -> None:
    finish(make_run(by=administrator))
    held = Destination.objects.filter(pk=webhook.pk)
    held.update(lease_owner="killed", fence=7, lease_until=timezone.now() + timedelta(seconds=60))
    work()
    assert not receiver.received, "another worker has it"
    lost = DeliveryAttempt.objects.create(delivery=Delivery.objects.get())
    held.update(lease_until=timezone.now() - timedelta(seconds=1))
    work()
    [sent] = receiver.received
    assert Delivery.objects.get().state == Delivery.State.DELIVERED and sent.id
    lost.refresh_from_db()
    assert lost.ended_at is None and owner() not in Destination.objects.get().lease_owner


def test_replays_go_under_the_same_id_and_a_span_reaches_what_was_never_sent(
    make_destination: MakeDestination, receiver: Receiver, administrator: User
) -> None:
    first = make_destination("first", types=["run.finished"])
    run = make_run(by=administrator)
    finish(run)
    work()
    delivery = Delivery.objects.get()
    services.replay(delivery, by=administrator)
    with pytest.raises(NotAllowedNow):
        services.replay(delivery, by=administrator)
    work()
    assert len({one.id for one in receiver.received}) == 1 and len(receiver.received) == 2
    later = make_destination("later")
    now = timezone.now()
    with pytest.raises(BadInput):
        services.replay_span(later, since=now, until=now, by=administrator)
    span = {"since": now - timedelta(hours=1), "until": now + timedelta(hours=1)}
    assert services.replay_span(later, **span, by=administrator) == 1
    assert services.replay_span(first, **span, by=administrator) == 1
    work()
    assert len({one.id for one in receiver.received}) == 1 and len(receiver.received) == 4


def test_a_test_is_tried_once_even_while_it_is_paused(
    webhook: Destination, receiver: Receiver, administrator: User
) -> None:
    services.pause(webhook, by=administrator)
    finish(make_run(by=administrator))
    services.send_test(webhook, by=administrator)
    work()
    assert receiver.types == ["test"]
    receiver.answer = lambda _document: 500
    failed = services.send_test(webhook, by=administrator)
    work()
    failed.refresh_from_db()
    assert (failed.state, failed.tries) == (Delivery.State.FAILED, 1)
    tested = LogEntry.objects.filter(additional_data__event="destination tested")
    assert [row.actor for row in tested] == [administrator] * 2


def test_what_made_it_worse_suspends_and_is_told_so(
    webhook: Destination, receiver: Receiver, curator: User, reviewer: User
) -> None:
    version = make_version(by=curator)
    use = catalog.record_use(version, by=reviewer, values={}).use
    record_outcome(use, outcome="worse", by=reviewer, incident="INC-7")
    work()
    assert receiver.types == ["outcome.made_worse", "entry.suspended"]
    assert "INC-7" not in "".join(one.body.decode() for one in receiver.received)
    assert Version.objects.get().entry.suspended_at


def test_old_events_go_with_their_deliveries(
    webhook: Destination, administrator: User, settings: Settings
) -> None:
    for _number in range(2):
        finish(make_run(by=administrator))
    work()
    old = Event.objects.order_by("pk")[0]
    Event.objects.filter(pk=old.pk).update(at=timezone.now() - timedelta(days=31))
    assert expiry.delete_old_events() == 1
    assert Delivery.objects.count() == 1 and not Event.objects.filter(pk=old.pk).exists()
