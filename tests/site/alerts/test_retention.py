"""Tests that alert text is deleted after a time, and together with the request that was created from it."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core import serializers
from django.test import Client
from django.utils import timezone

from pipeline.models import Action, Run
from pipeline.services import erase_action
from scriptsmith_site.integrations.alerts.services import retention
from scriptsmith_site.models import Alert, AlertDelivery, Incident, IncidentEvent
from tests.site.alerts import payloads as sent
from tests.site.alerts.conftest import Door, take_in_all
from tests.site.browsing import ClientFor

pytestmark = pytest.mark.django_db
WORD = "zqsecretword"


def fire(door: Door, **more: bool) -> None:
    alert = sent.prometheus_alert("a", label=WORD, **more)
    alert["annotations"] = {"summary": f"Free {WORD} on web-1"}
    door.send(sent.alertmanager(alert))


def test_what_is_over_is_deleted_after_its_days_and_what_fires_stays(door: Door) -> None:
    fire(door)
    door.send(sent.alertmanager(sent.prometheus_alert("b"), group="b"))
    fire(door, resolved=True)
    past = timezone.now() - timedelta(days=31)
    AlertDelivery.objects.update(created_at=past)
    Alert.objects.update(last_at=past)
    Incident.objects.filter(state="resolved").update(resolved_at=past)
    retention.delete_old()
    assert not AlertDelivery.objects.exists()
    assert Alert.objects.get().incident.is_open
    over = Incident.objects.get(state="resolved")
    assert over.labels == over.annotations == {} and WORD in over.title


def test_erased_action_reaches_alerts(door: Door, administrator: User, as_reviewer: Client) -> None:
    fire(door)
    incident = Incident.objects.get()
    as_reviewer.post(f"/incidents/{incident.pk}/note/", {"text": f"About {WORD}"})
    as_reviewer.get(f"/incidents/{incident.pk}/ask/")
    form = {"statement": f"Free {WORD}", "context": WORD, "severity": "2", "configuration": "demo"}
    assert as_reviewer.post(f"/incidents/{incident.pk}/ask/", form).status_code == 302
    action = Action.objects.get()
    Run.objects.update(state="failed", finished_at=timezone.now())
    erase_action(action, by=administrator)
    for model in (Incident, IncidentEvent, Alert, AlertDelivery, Action):
        assert WORD not in serializers.serialize("json", model.objects.all()), model
    page = as_reviewer.get(f"/incidents/{incident.pk}/").text
    assert "The text of this incident was erased" in page and WORD not in page
    fire(door)
    door.send(sent.alertmanager(sent.prometheus_alert("c")))
    assert Incident.objects.filter(state="open").count() == 1, "what is sent again is a new one"


def test_erasing_loses_no_alert_that_waits(
    door: Door, reviewer: User, administrator: User, client_for: ClientFor
) -> None:
    fire(door)
    incident = Incident.objects.get()
    form = {"statement": f"Free {WORD}", "context": WORD, "severity": "2", "configuration": "demo"}
    client_for(reviewer).post(f"/incidents/{incident.pk}/ask/", form)
    Run.objects.update(state="failed", finished_at=timezone.now())
    alert = sent.prometheus_alert("a", label=WORD)
    door.send(sent.alertmanager(alert, receiver="reminder"), take_in=False)
    door.send(sent.alertmanager(sent.prometheus_alert("b"), group="other"), take_in=False)
    erase_action(Action.objects.get(), by=administrator)
    take_in_all()
    assert Incident.objects.filter(state="open").count() == 1
    assert Alert.objects.count() == 1 and "other" in AlertDelivery.objects.latest("pk").raw
    for model in (Incident, Alert, AlertDelivery):
        assert WORD not in serializers.serialize("json", model.objects.all()), model
