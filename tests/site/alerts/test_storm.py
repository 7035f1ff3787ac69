"""Tests that every alert is counted in a small storm of simultaneous requests for few groups, with real threads."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from pipeline.models import Action, ModelCall
from scriptsmith_site.integrations.alerts.services import processing
from scriptsmith_site.models import AlertDelivery, Incident
from tests.site.alerts import payloads as sent
from tests.site.alerts.conftest import OpenDoor

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

GROUPS, REQUESTS, ALERTS, THREADS = 5, 40, 10, 6


def test_one_card_a_group_and_no_alert_lost(open_door: OpenDoor) -> None:
    door = open_door()

    def send(number: int) -> int:
        try:
            group, turn = number % GROUPS, number // GROUPS
            alerts = [
                sent.prometheus_alert(f"{group}-{turn // 2 * ALERTS + one}")
                for one in range(ALERTS)
            ]
            raw = json.dumps(
                sent.alertmanager(*alerts, group=str(group), receiver=str(turn))
            ).encode()
            return door.post(raw, headers=door.proof(raw)).status_code
        finally:
            connection.close()

    def take_in(key: int) -> None:
        try:
            processing.take_in(key)
        finally:
            connection.close()

    with ThreadPoolExecutor(THREADS) as pool:
        assert set(pool.map(send, range(REQUESTS))) == {202}
        keys = list(AlertDelivery.objects.values_list("pk", flat=True))
        assert len(keys) == REQUESTS
        list(pool.map(take_in, keys))
    counts = door.counts()
    assert Incident.objects.count() == GROUPS
    assert counts["requests"] == REQUESTS
    assert counts["new"] + counts["repeated"] == REQUESTS * ALERTS
    assert sum(one.alerts.count() for one in Incident.objects.all()) == counts["new"] == 200
    assert not Action.objects.exists() and not ModelCall.objects.exists()
