"""Tests that requests become incidents with one card per group, in any order of arrival and with repeats."""

from __future__ import annotations

from datetime import timedelta
from itertools import permutations
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.utils import timezone

from core.errors import NotAllowedNow
from scriptsmith_site.integrations.alerts.services import incidents, processing
from scriptsmith_site.models import Alert, AlertDelivery, Incident
from tests.site.alerts import payloads as sent
from tests.site.alerts.conftest import Door, OpenDoor
from tests.site.alerts.payloads import GENERIC_MAPPING

pytestmark = pytest.mark.django_db


def kinds(incident: Incident) -> list[str]:
    return list(incident.events.values_list("kind", flat=True))


def forget_window() -> None:
    """Move all requests out of the ten-minute window, after which the same body is a reminder."""
    AlertDelivery.objects.update(window=-F("pk"))


def test_a_group_is_one_card_that_ends_with_its_last_alert(door: Door) -> None:
    first, second = sent.prometheus_alert("a1"), sent.prometheus_alert("a2", instance="web-2:9100")
    door.send(sent.alertmanager(first))
    door.send(sent.alertmanager(first, second))
    incident = Incident.objects.get()
    assert (incident.firing, incident.severity) == (2, 1)
    assert incident.statement == "Delete files older than 30 days in /var/tmp/exports"
    over = sent.prometheus_alert("a1", resolved=True)
    door.send(sent.alertmanager(over, second))
    incident.refresh_from_db()
    assert incident.is_open and incident.firing == 1
    last = sent.prometheus_alert("a2", resolved=True, instance="web-2:9100")
    door.send(sent.alertmanager(over, last))
    incident.refresh_from_db()
    assert (
        not incident.is_open and incident.resolved_at and kinds(incident) == ["fired", "resolved"]
    )
    assert door.counts() == {"requests": 4, "new": 2, "repeated": 3, "resolved": 2}


def test_user_closes_unresolved_incident(open_door: OpenDoor, reviewer: User) -> None:
    mapping = {name: where for name, where in GENERIC_MAPPING.items() if name != "done"}
    silent, telling = open_door("generic", mapping=mapping), open_door()
    silent.send(sent.generic())
    incident = Incident.objects.get()
    incidents.close(incident, by=reviewer)
    assert not incident.is_open and incident.firing == 0 and incident.resolved_at
    assert kinds(incident) == ["fired", "closed"]
    with pytest.raises(NotAllowedNow, match="already resolved"):
        incidents.close(incident, by=reviewer)
    AlertDelivery.objects.update(created_at=timezone.now() - timedelta(minutes=11))
    silent.send(sent.generic())
    incident.refresh_from_db()
    assert incident.is_open and kinds(incident) == ["fired", "closed", "fired-again"]
    telling.send(sent.alertmanager())
    with pytest.raises(NotAllowedNow, match="its source reports"):
        incidents.close(Incident.objects.latest("pk"), by=reviewer)


def test_reminders_are_counted_on_the_card(door: Door) -> None:
    for _time in range(3):
        door.send(sent.alertmanager())
        forget_window()
    incident = Incident.objects.get()
    assert (incident.repeats, kinds(incident)) == (2, ["fired"])


@pytest.mark.slow
def test_the_order_of_requests_changes_nothing(open_door: OpenDoor) -> None:
    requests = [
        sent.alertmanager(sent.prometheus_alert("a1")),
        sent.alertmanager(sent.prometheus_alert("a1"), sent.prometheus_alert("a2")),
        sent.alertmanager(
            sent.prometheus_alert("a1", resolved=True), sent.prometheus_alert("a2", resolved=True)
        ),
    ]
    for number, order in enumerate(permutations(requests)):
        door = open_door(name=f"S{number}")
        for request in order:
            door.send(request)
        assert set(door.source.alerts.values_list("state", flat=True)) == {"resolved"}
        assert not door.source.incidents.filter(state="open").exists(), number
        assert door.source.incidents.count() <= 1


def started(name: str, hour: int, *, over: bool = False) -> dict[str, Any]:
    """Return an alert that started at this hour and lasted half an hour."""
    times = {"startsAt": f"2026-11-02T0{hour}:00:00Z"}
    if over:
        times["endsAt"] = f"2026-11-02T0{hour}:30:00Z"
    return sent.prometheus_alert(name, resolved=over) | times


def test_late_resolved_ends_nothing_that_began_after_it(open_door: OpenDoor) -> None:
    """In any order of processing, the first alert ends as resolved and the second as firing."""
    requests = [
        sent.alertmanager(started("a1", 1)),
        sent.alertmanager(started("a1", 1, over=True)),
        sent.alertmanager(started("a2", 2)),
    ]
    for order in permutations(range(3)):
        door = open_door(name=f"S{order}")
        for request in requests:
            door.send(request, take_in=False)
        keys = list(door.source.deliveries.order_by("pk").values_list("pk", flat=True))
        for place in order:
            processing.take_in(keys[place])
        states = dict(door.source.alerts.values_list("starts_at__hour", "state"))
        assert states == {1: "resolved", 2: "firing"}, order
        incidents = door.source.incidents
        assert incidents.get(state="open").firing == 1, order
        assert not incidents.filter(state="resolved").exists(), order


def test_a_resolved_that_somebody_kept_and_sends_again_closes_nothing(open_door: OpenDoor) -> None:
    """The request's signature has no timestamp, so the request is accepted. Alerts that fired since then stay open."""
    door = open_door("grafana", proof="signature")
    over = sent.grafana() | {"alerts": [started("a1", 1, over=True)], "status": "resolved"}
    door.send(sent.grafana() | {"alerts": [started("a1", 1)]})
    door.send(over)
    assert not Incident.objects.get().is_open
    door.send(sent.grafana() | {"alerts": [started("a2", 2)]})
    forget_window()
    door.send(over)
    incident = Incident.objects.get()
    assert incident.is_open and incident.firing == 1
    assert AlertDelivery.objects.count() == 4, "it was taken in"


def test_what_was_cut_ends_with_its_group_though_it_was_taken_in_late(door: Door) -> None:
    """An alert is first seen when its request arrives, not when a worker processes the request."""
    door.send(sent.alertmanager(started("a1", 1), started("a2", 1)), take_in=False)
    over = sent.alertmanager(started("a1", 1, over=True), truncatedAlerts=1)
    door.send(over, take_in=False)
    for key in AlertDelivery.objects.order_by("pk").values_list("pk", flat=True):
        processing.take_in(key)
    assert not Incident.objects.get().is_open


def test_alerts_that_the_sender_cut_are_counted_and_end_with_their_group(door: Door) -> None:
    door.send(sent.alertmanager(sent.prometheus_alert("a1"), sent.prometheus_alert("a2")))
    door.send(sent.alertmanager(sent.prometheus_alert("a1"), truncatedAlerts=1))
    incident = Incident.objects.get()
    assert incident.truncated == 1
    over = sent.alertmanager(sent.prometheus_alert("a1", resolved=True), truncatedAlerts=1)
    door.send(over)
    incident.refresh_from_db()
    assert not incident.is_open and incident.firing == 0
    assert door.counts()["truncated"] == 2


def test_what_flaps_is_one_card_and_what_comes_back_later_another(door: Door) -> None:
    def fire(start: str) -> None:
        alert = sent.prometheus_alert() | {"startsAt": start}
        door.send(sent.alertmanager(alert))
        door.send(sent.alertmanager(alert | {"status": "resolved"}))

    fire("2026-11-02T01:00:00Z")
    fire("2026-11-02T01:05:00Z")
    incident = Incident.objects.get()
    assert kinds(incident) == ["fired", "resolved", "fired-again", "resolved"]
    Incident.objects.update(resolved_at=timezone.now() - timedelta(hours=2))
    fire("2026-11-02T05:00:00Z")
    assert Incident.objects.count() == 2


def test_pagerduty_says_when_so_an_older_word_changes_nothing(open_door: OpenDoor) -> None:
    door = open_door("pagerduty")
    door.send(sent.pagerduty(id="1", at="2026-11-02T03:00:00Z"))
    door.send(
        sent.pagerduty("incident.resolved", id="3", at="2026-11-02T03:20:00Z", status="resolved")
    )
    door.send(sent.pagerduty("incident.acknowledged", id="2", at="2026-11-02T03:10:00Z"))
    assert not Incident.objects.get().is_open
    door.send(sent.pagerduty("incident.reopened", id="4", at="2026-11-02T03:30:00Z"))
    incident = Incident.objects.get()
    assert incident.is_open and kinds(incident) == ["fired", "resolved", "fired-again"]


def test_filters_hold_back_before_anything_starts(open_door: OpenDoor) -> None:
    door = open_door(matchers='team="web"', least_severity=2)
    door.send(sent.alertmanager(sent.prometheus_alert("a1", team="db")))
    door.send(sent.alertmanager(sent.prometheus_alert("a2", team="web", severity="warning")))
    assert not Incident.objects.exists() and not Alert.objects.exists()
    door.send(sent.alertmanager(sent.prometheus_alert("a3", team="web")))
    assert Incident.objects.count() == 1
    assert door.counts() == {"requests": 3, "filtered": 2, "new": 1}


def test_open_cards_are_capped_and_made_once_there_is_room(open_door: OpenDoor) -> None:
    door = open_door(most_open=2)
    for number in range(4):
        door.send(sent.alertmanager(sent.prometheus_alert(f"a{number}"), group=f"g{number}"))
    assert Incident.objects.count() == 2
    assert door.counts()["no incident: too many open"] == 2
    door.send(sent.alertmanager(sent.prometheus_alert("a0", resolved=True), group="g0"))
    door.send(sent.alertmanager(sent.prometheus_alert("a3"), group="g3", receiver="again"))
    assert Incident.objects.filter(state="open").count() == 2


def test_card_ends_with_its_last_alert(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scriptsmith_site.integrations.alerts.services.processing.MOST_KEPT", 3)
    alerts = [sent.prometheus_alert(f"a{n}") for n in range(5)]
    over = [one | {"status": "resolved"} for one in alerts]
    for reminder in range(3):
        door.send(sent.alertmanager(*alerts, receiver=str(reminder)))
    incident = Incident.objects.get()
    assert (incident.unkept, incident.firing, door.counts()["counted only"]) == (2, 5, 2)
    door.send(sent.alertmanager(*over[:3], *alerts[3:]))
    incident.refresh_from_db()
    assert (incident.is_open, incident.firing) == (True, 2)
    door.send(sent.alertmanager(*over))
    incident.refresh_from_db()
    assert (incident.is_open, incident.unkept) == (False, 0)


def test_what_says_no_time_fires_again_after_its_end(open_door: OpenDoor) -> None:
    door = open_door("generic")
    incident = None
    for over in (False, False, True, True, False, True):  # within one ten-minute window
        door.send(sent.generic(over=over))
        incident = Incident.objects.get()
        assert incident.is_open is not over
    assert incident and kinds(incident) == ["fired", "resolved", "fired-again", "resolved"]
    assert door.counts()["repeated requests"] == 2
    Incident.objects.update(resolved_at=timezone.now() - timedelta(days=3))
    door.send(sent.generic())
    assert Incident.objects.filter(state="open").count() == 1 < Incident.objects.count()


def test_what_says_no_time_is_judged_by_when_it_came(open_door: OpenDoor) -> None:
    door = open_door("generic")
    for over in (False, True):
        door.send(sent.generic(over=over), take_in=False)
    for key in AlertDelivery.objects.order_by("-pk").values_list("pk", flat=True):
        processing.take_in(key)
    assert not Incident.objects.filter(state="open").exists()


def test_an_alert_of_two_groups_stands_on_both_cards(door: Door) -> None:
    for _time in range(2):
        for group in ("g1", "g2"):
            door.send(sent.alertmanager(group=group))
        forget_window()
    assert [one.firing for one in Incident.objects.all()] == [1, 1]
    door.send(sent.alertmanager(sent.prometheus_alert(resolved=True), group="g1"))
    assert [one.is_open for one in Incident.objects.order_by("pk")] == [False, True]


def test_common_annotations_are_kept_once(door: Door) -> None:
    common = {f"n{number}": "x" * 4_000 for number in range(64)}
    alerts = [sent.prometheus_alert(f"a{n}") for n in range(20)]
    alerts[0]["annotations"] |= {"huge": "y" * 4_000}
    door.send(sent.alertmanager(*alerts, commonAnnotations=common))
    incident = Incident.objects.get()
    assert incident.annotations["n0"] == "x" * 4_000 and "summary" in incident.annotations
    assert len(str(incident.annotations)) < 25_000
    assert sum(len(str(one.annotations)) for one in incident.alerts.all()) < 10_000


def test_failing_delivery_is_given_up(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_arguments: object, **_more: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr(processing, "apply", fail)
    door.send(sent.alertmanager(), take_in=False)
    delivery = AlertDelivery.objects.get()
    for _try in range(processing.MOST_TRIES):
        with pytest.raises(RuntimeError):
            processing.take_in(delivery.pk)
        AlertDelivery.objects.update(lease_until=None)
    processing.take_in(delivery.pk)
    delivery.refresh_from_db()
    door.source.refresh_from_db()
    assert delivery.state == "failed" and "failed after" in delivery.error == door.source.last_error


def test_only_its_own_source_can_resolve_an_incident(open_door: OpenDoor) -> None:
    ours, other = open_door(name="ours"), open_door(name="other")
    ours.send(sent.alertmanager())
    other.send(sent.alertmanager(sent.prometheus_alert(resolved=True)))
    assert Incident.objects.get().is_open


def test_a_mapping_that_changed_meanwhile_fails_the_request_in_words(open_door: OpenDoor) -> None:
    door = open_door("generic")
    door.send(sent.generic(), take_in=False)
    door.source.mapping = {"title": "/gone", "key": "/gone"}
    door.source.save()
    door.send(b"x")
    delivery = AlertDelivery.objects.get()
    assert (delivery.state, "/gone" in delivery.error) == ("failed", True)


@pytest.mark.parametrize(
    "again", ["2026-11-02T04:04:05.123456+01:00", "2026-11-02T03:04:05.123456789+00:00"]
)
def test_one_start_in_another_zone_is_the_same_alert(door: Door, again: str) -> None:
    door.send(sent.alertmanager())
    alert = sent.prometheus_alert(resolved=True) | {"startsAt": again}
    door.send(sent.alertmanager(alert))
    assert [one.state for one in Alert.objects.all()] == ["resolved"]
    assert Incident.objects.get().state == "resolved"


def test_resolved_alert_of_grafana_that_starts_at_its_end_ends_the_firing_one(door: Door) -> None:
    """Other alerts of the same group keep firing."""
    other = sent.prometheus_alert("a2", instance="web-2:9100")
    door.send(sent.alertmanager(sent.prometheus_alert(), other))
    end = "2026-11-02T04:00:00Z"
    over = sent.prometheus_alert(resolved=True) | {"startsAt": end, "endsAt": end}
    door.send(sent.alertmanager(over, other))
    states = {one.labels["instance"]: one.state for one in Alert.objects.all()}
    assert states == {"web-1:9100": "resolved", "web-2:9100": "firing"}
    assert Alert.objects.count() == 2 and Incident.objects.get().state == "open"
    early = sent.prometheus_alert("a2", instance="web-2:9100", resolved=True)
    before = "2026-11-02T01:00:00Z"
    door.send(sent.alertmanager(early | {"startsAt": before, "endsAt": before}, status="firing"))
    assert Incident.objects.get().state == "open", "it began later"
