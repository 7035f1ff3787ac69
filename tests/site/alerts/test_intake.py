"""Tests for authentication, rejections and stored data of alert intake. No alert is lost when a worker dies."""

from __future__ import annotations

import gzip
import hashlib
import hmac
import json
from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from core.leased_jobs import claim
from scriptsmith_site.integrations.alerts.services import processing, sources
from scriptsmith_site.models import Alert, AlertDelivery, AlertKey, Incident
from tests.site.alerts import payloads as sent
from tests.site.alerts.conftest import Door, OpenDoor, take_in_all

pytestmark = pytest.mark.django_db

BODIES = {
    "alertmanager": sent.alertmanager,
    "grafana": sent.grafana,
    "pagerduty": sent.pagerduty,
    "instana": sent.instana,
    "generic": sent.generic,
}


def test_request_of_every_kind_makes_an_incident(open_door: OpenDoor) -> None:
    for kind, body in BODIES.items():
        door = open_door(kind)
        answer = door.send(body())
        assert (answer.status_code, answer.json()) == (202, {"status": "accepted"}), kind
        incident = Incident.objects.get(source=door.source)
        assert incident.is_open and incident.firing == 1, kind
        door.source.refresh_from_db()
        assert door.source.last_success_at and not door.source.last_error, kind


def test_request_without_proof_is_refused_and_not_stored(open_door: OpenDoor) -> None:
    wrong = [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic !!!"},
        {"X-PagerDuty-Signature": "v1=" + "0" * 64},
        {"X-PagerDuty-Signature": "v1="},
        {"X-Grafana-Alerting-Signature": "0" * 64},
    ]
    for kind, body in BODIES.items():
        door = open_door(kind)
        raw = json.dumps(body()).encode()
        for headers in wrong:
            answer = door.post(raw, headers=headers, url=door.url)
            assert answer.status_code == 401, (kind, headers)
        assert door.post(raw, headers={}, url=f"{door.url}/wrong").status_code in (401, 404), kind
        door.source.refresh_from_db()
        assert not door.source.last_error_at, "anybody may have sent it"
        assert sum(door.counts().values()) >= len(wrong), kind
        unknown = door.post(raw, headers={}, url=f"/hooks/{kind}/99999")
        assert (unknown.status_code, unknown.json()) == (401, answer.json()), kind
    assert not AlertDelivery.objects.exists()


def test_grafana_signature_covers_exact_body(open_door: OpenDoor) -> None:
    door = open_door("grafana", proof="signature")
    raw = json.dumps(sent.grafana()).encode()
    headers = door.proof(raw)
    again = json.dumps(json.loads(raw), indent=1).encode()
    turned = json.dumps(json.loads(raw), sort_keys=True, separators=(",", ":")).encode()
    for other in (again, turned, raw.replace(b"7.5", b"7.50"), raw + b"\n"):
        assert door.post(other, headers=headers).status_code == 401
    upper = {"X-Grafana-Alerting-Signature": headers["X-Grafana-Alerting-Signature"].upper()}
    assert door.post(raw, headers=upper).status_code == 401
    assert not AlertDelivery.objects.exists()
    assert door.post(raw, headers=headers).status_code == 202
    take_in_all()
    assert Incident.objects.get().firing == 1


def test_repeated_pagerduty_event_acts_once(open_door: OpenDoor) -> None:
    """The signature has no time, so an old request stays valid. Only the event's id shows that it is old."""
    door = open_door("pagerduty")
    fired, over = (
        sent.pagerduty(id="1"),
        sent.pagerduty("incident.resolved", id="2", status="resolved"),
    )
    reopened = sent.pagerduty("incident.reopened", id="3", at="2026-11-02T05:00:00Z")
    for event in (fired, over, reopened):
        door.send(event)
    incident = Incident.objects.get()
    before = list(incident.events.values_list("pk", flat=True))
    assert incident.is_open and len(before) == 3
    AlertDelivery.objects.update(created_at=timezone.now() - timedelta(days=3))
    for event in (over, over, fired):
        assert door.send(event).status_code == 202
    incident.refresh_from_db()
    assert incident.is_open and list(incident.events.values_list("pk", flat=True)) == before
    assert sorted(AlertDelivery.objects.values_list("times", flat=True)) == [1, 2, 3]
    assert door.counts()["repeated requests"] == 3
    assert door.counts()["requests"] == 3 and Alert.objects.get().times == 3


def test_each_active_secret_is_accepted(open_door: OpenDoor, administrator: User) -> None:
    door = open_door("pagerduty")
    sources.make_key(door.source, by=administrator, secret="n" * 32)
    raw = json.dumps(sent.pagerduty()).encode()
    new = hmac.new(b"n" * 32, raw, hashlib.sha256).hexdigest()
    assert (
        door.post(raw, headers={"X-PagerDuty-Signature": f"v1={'0' * 64}, v1={new}"}).status_code
        == 202
    )
    sources.revoke_key(AlertKey.objects.latest("pk"), by=administrator)
    assert door.post(raw, headers={"X-PagerDuty-Signature": f"v1={new}"}).status_code == 401
    assert door.post(raw + b" ", headers=door.proof(raw)).status_code == 401, "one byte changed"
    assert door.post(raw, headers=door.proof(raw)).status_code == 202


def test_grafana_signature_with_an_old_time_is_refused(open_door: OpenDoor) -> None:
    door = open_door("grafana", proof="signature", timestamp_header="X-Signed-At")
    raw = json.dumps(sent.grafana()).encode()
    for minutes, status in ((0, 202), (4, 202), (6, 401), (-6, 401)):
        stamp = str(int((datetime.now(UTC) - timedelta(minutes=minutes)).timestamp()))
        text = f"{stamp}:".encode() + raw
        signed = hmac.new(door.secret.encode(), text, hashlib.sha256).hexdigest()
        headers = {"X-Grafana-Alerting-Signature": signed, "X-Signed-At": stamp}
        assert door.post(raw, headers=headers).status_code == status, minutes
        headers["X-Signed-At"] = str(int(stamp) - 1)
        assert door.post(raw, headers=headers).status_code == 401, minutes
    assert door.post(raw, headers=door.proof(raw)).status_code == 401, "the time is not signed"


def test_secrets_are_kept_as_hashes_or_encrypted(open_door: OpenDoor) -> None:
    for kind in BODIES:
        door = open_door(kind)
        key = door.source.keys.get()
        assert door.secret not in (key.sha256, key.sealed, str(key))
        assert bool(key.sealed) is (kind == "pagerduty")


def test_a_signing_secret_under_another_secret_key_is_said_and_a_new_one_helps(
    open_door: OpenDoor, settings: object, administrator: User
) -> None:
    door = open_door("pagerduty")
    settings.SECRET_KEY = "another" * 8
    assert door.send(sent.pagerduty()).status_code == 401
    door.source.refresh_from_db()
    assert "SECRET_KEY" in door.source.last_error
    sources.make_key(door.source, by=administrator, secret=door.secret)
    assert door.send(sent.pagerduty()).status_code == 202


def test_wrong_secrets_make_an_address_wait_but_never_the_right_token(
    open_door: OpenDoor, settings: object, administrator: User
) -> None:
    settings.SCRIPTSMITH_SECRET_TRIES = 2
    token, signed = open_door(), open_door("pagerduty")
    nowhere = f"/hooks/alertmanager/{signed.source.pk + 1}"
    for door, url in ((token, token.url), (signed, signed.url), (token, nowhere)):
        answers = [door.post(b"{}", headers={}, url=url) for _time in range(3)]
        assert [one.status_code for one in answers] == [401, 401, 429], url
        assert int(answers[2]["Retry-After"]) > 60
    assert token.send(sent.alertmanager()).status_code == 202
    assert signed.send(sent.pagerduty()).status_code == 429
    sources.make_key(signed.source, by=administrator, secret="n" * 32)
    assert signed.send(sent.pagerduty()).status_code == 202, "nobody waits after a new secret"
    assert open_door(name="other").send(sent.alertmanager()).status_code == 202


def test_size_encoding_and_form_are_refused_with_final_statuses(door: Door) -> None:
    proof = {"Authorization": f"Bearer {door.secret}"}
    large = json.dumps(sent.alertmanager(pad="x" * 1_048_576)).encode()
    assert door.post(large, headers=proof).status_code == 413
    packed = gzip.compress(b"x")
    assert door.post(packed, headers=proof | {"Content-Encoding": "gzip"}).status_code == 415
    form = "application/x-www-form-urlencoded"
    assert door.post(b"a=b", headers=proof, content_type=form).status_code == 415
    for body in (b"", b"x", b'{"alerts": []}', b"[" * 30_000):
        assert door.post(body, headers=proof).status_code == 422
    for method in ("get", "put"):
        assert getattr(door.client, method)(door.url).status_code == 405
    assert not AlertDelivery.objects.exists()
    assert door.counts()["refused: The body is not valid JSON in UTF-8."] == 3


def test_deep_nesting_is_refused_and_never_a_defect(door: Door) -> None:
    """The tested depths include one just below the limit of Python's own parser."""
    proof = {"Authorization": f"Bearer {door.secret}"}
    alert = json.dumps(sent.prometheus_alert() | {"labels": {"x": "@"}, "fingerprint": "@"})
    outer = json.dumps(sent.alertmanager() | {"alerts": ["#"], "groupKey": "@", "more": "@"})
    outer = outer.replace('"#"', alert)
    for name, depth in product(
        ("x", "groupKey", "fingerprint", "more"), (70, *range(300, 1_000, 80))
    ):
        body = outer.replace(f'"{name}": "@"', f'"{name}": {"[" * depth}{"]" * depth}')
        assert body != outer
        assert door.post(body.encode(), headers=proof).status_code == 422, (name, depth)


def test_an_event_has_one_id_however_its_body_is_written(open_door: OpenDoor) -> None:
    door = open_door("pagerduty")
    door.send(json.dumps(sent.pagerduty()).encode())
    door.send(json.dumps(sent.pagerduty(), indent=1).encode())
    assert AlertDelivery.objects.get().times == 2
    generic = open_door("generic")
    for name in ("1", "1", "2"):
        generic.send(
            sent.generic(),
            **{"Authorization": f"Bearer {generic.secret}", "Ce-Id": name, "Ce-Source": "/x"},
        )
    assert generic.source.deliveries.count() == 2


def test_too_many_requests_in_a_minute_may_come_again_later(open_door: OpenDoor) -> None:
    door = open_door(requests_per_minute=2)
    answers = [door.send(sent.alertmanager(group=str(n))) for n in range(3)]
    # Alertmanager and Grafana drop an alert after status 429, so the response is 503.
    assert [one.status_code for one in answers] == [202, 202, 503]
    assert answers[2]["Retry-After"] == "60"
    assert door.send(sent.alertmanager(), Authorization="Bearer x").status_code == 401
    AlertDelivery.objects.update(created_at=timezone.now() - timedelta(minutes=2))
    assert door.send(sent.alertmanager(group="later")).status_code == 202
    others = [open_door(kind, requests_per_minute=0) for kind in ("grafana", "pagerduty")]
    bodies = (sent.grafana(), sent.pagerduty())
    assert [door.send(one).status_code for door, one in zip(others, bodies, strict=True)] == [
        503,
        429,
    ]


def test_basic_authentication_is_accepted(open_door: OpenDoor, administrator: User) -> None:
    door = open_door("grafana")
    basic = b64encode(f"grafana:{door.secret}".encode()).decode()
    sources.set_paused(door.source, True, by=administrator)
    assert door.send(sent.grafana(), Authorization=f"Basic {basic}").status_code == 403
    sources.set_paused(door.source, False, by=administrator)
    assert door.send(sent.grafana(), Authorization=f"Basic {basic}").status_code == 202


def test_a_request_that_a_worker_left_is_taken_in_by_another_once(door: Door) -> None:
    door.send(sent.alertmanager(), take_in=False)
    delivery = AlertDelivery.objects.get()
    assert processing.take_in_missed() == 1, "nobody was told"
    assert claim(AlertDelivery, delivery.pk) is not None
    processing.take_in(delivery.pk)
    assert not Incident.objects.exists(), "another worker has it"
    AlertDelivery.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert processing.take_in_missed() == 1, "who had it died"
    processing.take_in(delivery.pk)
    processing.take_in(delivery.pk)
    assert Incident.objects.count() == 1 and door.counts()["requests"] == 1


def test_lost_lease_writes_nothing(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    door.send(sent.alertmanager(), take_in=False)
    real = processing.apply

    def lose(*arguments: object, **more: object) -> object:
        AlertDelivery.objects.update(fence=99)
        return real(*arguments, **more)

    monkeypatch.setattr(processing, "apply", lose)
    take_in_all()
    assert not Incident.objects.exists() and not door.counts()


def test_a_broker_that_is_down_loses_nothing(
    door: Door,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Callable[..., object],
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise OSError("no broker")

    monkeypatch.setattr("core.leased_jobs.current_app.send_task", fail)
    with django_capture_on_commit_callbacks(execute=True):
        assert door.send(sent.alertmanager(), take_in=False).status_code == 202
    take_in_all()
    assert Incident.objects.count() == 1


def test_the_door_asks_for_little(
    door: Door, django_assert_max_num_queries: Callable[..., object]
) -> None:
    raw = json.dumps(sent.alertmanager()).encode()
    with django_assert_max_num_queries(6):
        door.post(raw, headers=door.proof(raw))
