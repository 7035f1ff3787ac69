"""Tests for an incident's page: scripts found without a model, values that a user accepts, and escaped hostile text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.core import serializers
from django.db import transaction
from django.test import Client

from catalog.models import Use, Version
from catalog.services import suspend
from pipeline.models import Action, ModelCall
from review.models import Item
from scriptsmith_site.integrations.alerts.suggestions import suggest_values
from scriptsmith_site.models import AlertSource, Incident, IncidentEvent
from scriptsmith_site.people.erasure import anonymise
from tests.catalog.shelf import shelve
from tests.review.blinding import rewriting
from tests.review.maker import make_study
from tests.site.alerts import payloads as sent
from tests.site.alerts.conftest import Door
from tests.site.alerts.test_payloads import HOSTILE
from tests.site.browsing import ClientFor

pytestmark = pytest.mark.django_db

RESTART = """#!/usr/bin/env bash
set -euo pipefail
: "${HOST:?where it runs}"
: "${SERVICE:?what is restarted}"
ssh "$HOST" systemctl restart "$SERVICE"
"""
PARAMETERS = [
    {"name": "HOST", "type": "text", "required": True, "alert_label": "instance"},
    {"name": "SERVICE", "type": "text", "description": "what", "required": True},
]
TITLE = "Restart a service on a host"


@pytest.fixture
def script() -> Version:
    return shelve(TITLE, script=RESTART, parameters=PARAMETERS)


def fire(door: Door, **labels: str) -> Incident:
    alert = sent.prometheus_alert(service="nginx", **labels)
    alert["annotations"] = {"summary": TITLE}
    door.send(sent.alertmanager(alert))
    return Incident.objects.latest("pk")


def test_verified_scripts_come_from_retrieval_alone(
    door: Door, script: Version, as_reviewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    incident = fire(door)

    def fail(*_arguments: object, **_options: object) -> None:
        raise AssertionError("the page told a worker or asked a model")

    monkeypatch.setattr("celery.app.base.Celery.send_task", fail)
    page = as_reviewer.get(f"/incidents/{incident.pk}/").text
    assert TITLE in page and "confidence" in page and "Why it matches" in page
    assert "systemctl" in page and "used" in page
    assert not ModelCall.objects.exists() and not Action.objects.exists()


@pytest.mark.slow
def test_values_of_the_alert_are_filled_in_once_a_person_accepts_them(
    door: Door, script: Version, reviewer: User, as_reviewer: Client
) -> None:
    incident = fire(door)
    url = f"/incidents/{incident.pk}/"
    page = as_reviewer.get(url).text
    assert "web-1" in page and 'value="web-1"' not in page
    refused = as_reviewer.post(f"{url}use/{script.pk}/", {})
    assert refused.status_code == 422
    fill = re.search(r'href="([^"#]*values=accepted)', refused.text.replace("&amp;", "&"))
    assert fill and as_reviewer.get(fill[1]).status_code == 200, "from a page that takes only POST"
    page = as_reviewer.get(f"{url}?script={script.pk}&values=accepted").text
    assert 'value="web-1"' in page and 'value="nginx"' in page
    answer = as_reviewer.post(
        f"{url}use/{script.pk}/", {"value-HOST": "web-1", "value-SERVICE": "a b; rm -rf /"}
    )
    taken = as_reviewer.get(answer["Location"]).text
    use = Use.objects.get()
    assert use.values["SERVICE"] == "a b; rm -rf /"
    assert "&#x27;a b; rm -rf /&#x27;" in taken or "'a b; rm -rf /'" in json.loads(
        taken.split('id="taken-text" type="application/json">')[1].split("</script>")[0]
    )
    event = IncidentEvent.objects.get(kind="copied")
    assert (event.use, event.by) == (use, reviewer)


def test_label_fills_only_a_parameter_of_its_name_or_that_a_curator_mapped() -> None:
    labels = {
        **{
            "instance": "db-1:9187",
            "job": "postgres",
            "name": "x",
            "device": "sda1",
            "Service": "db",
        },
        **{"datname": "shop", "exported_namespace": "ns", "nodename": "n1", "mountpoint": "/srv"},
    }
    names = "PORT HOST SERVICE DATABASE NAMESPACE DIRECTORY NODE UNIT SERVICE_NAME DEVICE"
    parameters = [{"name": name, "type": "text"} for name in names.split()]
    mapped = [
        *({"name": "DB", "alert_label": "datname"}, {"name": "HOST", "alert_label": "instance"}),
        *(
            {"name": "DEVICE", "alert_label": "missing"},
            {"name": "PORT", "alert_label": "instance"},
        ),
    ]
    found = []
    for title, rows in (("A", parameters), ("B", mapped)):
        asks = "".join(f'echo "${{{row["name"]}}}"\n' for row in rows)
        version = shelve(title, script=asks, parameters=rows)
        suggested = suggest_values(version, labels, {})
        found.append({one.name: (one.value, one.label) for one in suggested})
    assert found == [
        {"SERVICE": ("db", "Service"), "DEVICE": ("sda1", "device")},
        {"DB": ("shop", "datname"), "HOST": ("db-1", "instance"), "PORT": ("9187", "instance")},
    ]


def test_incidents_are_found_by_every_text_of_an_alert_the_most_severe_first(
    door: Door, script: Version, as_reviewer: Client
) -> None:
    for group, severity in (("low", "info"), ("high", "critical")):
        alert = sent.prometheus_alert(group, severity=severity, alertname="QueueStuck")
        alert["annotations"] = {"summary": f"Page {group}", "description": f"{TITLE} #zebra"}
        door.send(sent.alertmanager(alert, group=group))
    for words in ("Page", "zebra", "queuestuck", "zebra Page QueueStuck"):
        page = as_reviewer.get("/incidents/", {"q": words}).text
        assert 0 < page.find("Page high") < page.find("Page low"), words
    newest = as_reviewer.get("/incidents/?sort=newest&q=zebra").text
    assert 0 < newest.find("Page high") < newest.find("Page low")
    assert "Page high" not in as_reviewer.get("/incidents/", {"q": "zebra giraffe"}).text
    # The catalogue is searched with the description, because the summary does not mention the task.
    incident = Incident.objects.get(title="Page low")
    assert TITLE in as_reviewer.get(f"/incidents/{incident.pk}/").text.partition("</h1>")[2]
    as_reviewer.post(f"/incidents/{incident.pk}/statement/", {"statement": "Renew the certificate"})
    reworded = as_reviewer.get(f"/incidents/{incident.pk}/").text
    assert "No verified script found" in reworded, "the words of a user count alone"


def test_odd_values_are_not_suggested(door: Door, script: Version, as_reviewer: Client) -> None:
    odd = ("$(reboot)", "-rf", "a;b", "a b\nc", "`id`", "~root", "x" * 300, "\u202egnp", "a\x00b")
    for instance in odd:
        labels = {"instance": instance, "service": "nginx"}
        assert [one.name for one in suggest_values(script, labels, {})] == ["SERVICE"], instance
    incident = fire(door, instance="a\x00b")
    page = as_reviewer.get(f"/incidents/{incident.pk}/?values=accepted").text
    host = page.split('name="value-HOST"')[1].split(">")[0]
    assert "value=" not in host
    assert 'value="nginx"' in page


def test_hostile_labels_are_text_on_every_page(door: Door, as_reviewer: Client) -> None:
    alert = sent.prometheus_alert(**HOSTILE)
    alert["annotations"] = {"summary": HOSTILE["html"] + HOSTILE["template"] + HOSTILE["long"]}
    alert["generatorURL"] = "javascript:alert(1)"
    door.send(sent.alertmanager(alert, externalURL="javascript:alert(1)"))
    incident = Incident.objects.get()
    for address in (
        f"/incidents/{incident.pk}/",
        "/incidents/",
        "/",
        f"/incidents/{incident.pk}/ask/",
    ):
        answer = as_reviewer.get(address)
        assert answer.status_code == 200, address
        assert "<script>alert" not in answer.text and "javascript:alert" not in answer.text
        assert "{{ 7*7 }}" in answer.text or address == "/incidents/"
    shown = as_reviewer.get(f"/incidents/{incident.pk}/").text
    assert 'class="odd" data-code="U+202E"' in shown, "what turns the reading around is marked"
    listed = as_reviewer.get("/api/v1/incidents/").json()["results"][0]
    assert listed["labels"]["html"] == HOSTILE["html"] and listed["link"] == ""


def test_secrets_are_masked_before_a_model_reads_them(door: Door, as_reviewer: Client) -> None:
    incident = fire(door, url="https://root:hunter22@db.example.org/", key="AKIAABCDEFGHIJKLMNOP")
    page = as_reviewer.get(f"/incidents/{incident.pk}/ask/").text
    assert "Secrets were masked" in page
    assert "hunter22" not in page and "AKIAABCDEFGHIJKLMNOP" not in page


@pytest.mark.slow
def test_resolved_asks_whether_the_script_helped(
    door: Door, script: Version, reviewer: User, as_reviewer: Client, as_second_reviewer: Client
) -> None:
    incident = fire(door)
    client, url = as_reviewer, f"/incidents/{incident.pk}/"
    client.post(f"{url}use/{script.pk}/", {"value-HOST": "h", "value-SERVICE": "s"})
    alert = sent.prometheus_alert(service="nginx", resolved=True)
    door.send(sent.alertmanager(alert))
    assert "Did it help?" in client.get(url).text
    assert "Did it help?" not in as_second_reviewer.get(url).text
    use = Use.objects.get()
    assert (
        as_second_reviewer.post(f"{url}outcome/{use.pk}/", {"outcome": "worked"}).status_code == 404
    )
    assert client.post(f"{url}outcome/{use.pk}/", {"outcome": "nonsense"}).status_code == 422
    assert client.post(f"{url}outcome/{use.pk}/", {"outcome": "no_effect"}).status_code == 302
    use.refresh_from_db()
    assert use.outcome == "no_effect" and use.incident == f"#{incident.pk}"
    assert "Did it help?" not in client.get(url).text
    other = Use.objects.create(version=script, by=reviewer)
    assert client.post(f"{url}outcome/{other.pk}/", {"outcome": "worked"}).status_code == 404


def test_of_two_who_take_it_at_once_one_is_told(
    door: Door, reviewer: User, second_reviewer: User, stranger: User, client_for: ClientFor
) -> None:
    incident = fire(door)
    url = f"/incidents/{incident.pk}/"
    assert client_for(reviewer).post(f"{url}take/").status_code == 302
    assert client_for(reviewer).post(f"{url}take/").status_code == 409
    refused = client_for(reviewer).post(f"{url}hand-over/", {"to": stranger.pk})
    assert refused.status_code == 422
    client_for(reviewer).post(f"{url}hand-over/", {"to": second_reviewer.pk})
    incident.refresh_from_db()
    assert incident.taken_by == second_reviewer


@pytest.mark.slow
def test_a_handed_over_incident_forgets_who_is_anonymised(
    door: Door, reviewer: User, second_reviewer: User, administrator: User, client_for: ClientFor
) -> None:
    second_reviewer.first_name = "Zqsecretname"
    second_reviewer.save()
    incident = fire(door)
    client, url = client_for(reviewer), f"/incidents/{incident.pk}/"
    client.post(f"{url}hand-over/", {"to": second_reviewer.pk})
    assert "Zqsecretname" in client.get(url).text
    client.post(f"{url}take/")
    moves = [one.changes["on_it"] for one in LogEntry.objects.get_for_object(incident)]
    people = [f"person-{one.pk}" for one in (second_reviewer, reviewer)]
    assert moves == [people, ["", people[0]]]
    second_reviewer.is_active = False
    second_reviewer.save()
    anonymise(second_reviewer, confirmed_name=second_reviewer.username, by=administrator)
    assert "Zqsecretname" not in client.get(url).text and people[0] in client.get(url).text


def test_the_catalogue_is_told_the_number_of_an_incident_alone(
    door: Door, script: Version, reviewer: User, client_for: ClientFor
) -> None:
    incident = fire(door)
    Incident.objects.update(title="Zqalerttitle")
    client, url = client_for(reviewer), f"/incidents/{incident.pk}/"
    client.post(f"{url}use/{script.pk}/", {"value-HOST": "h", "value-SERVICE": "s"})
    use = Use.objects.get()
    assert client.post(f"{url}outcome/{use.pk}/", {"outcome": "worse"}).status_code == 302
    use.refresh_from_db()
    script.entry.refresh_from_db()
    assert use.incident == f"#{incident.pk}" and use.incident in script.entry.suspended_why
    kept = serializers.serialize("json", [use, script.entry, *LogEntry.objects.all()])
    assert "Zqalerttitle" not in kept


def test_a_statement_that_cannot_be_searched_by_is_said(door: Door, as_reviewer: Client) -> None:
    incident = fire(door)
    answer = as_reviewer.post(f"/incidents/{incident.pk}/statement/", {"statement": " "})
    assert answer.status_code == 422
    answer = as_reviewer.post(f"/incidents/{incident.pk}/statement/", {"statement": "x" * 4_001})
    assert answer.status_code == 422 and "x" * 4_001 in answer.text


@pytest.mark.slow
def test_pages_take_a_fixed_number_of_queries(
    door: Door,
    script: Version,
    as_reviewer: Client,
    django_assert_max_num_queries: Callable[..., object],
) -> None:
    for number in range(5):
        alerts = [
            sent.prometheus_alert(f"{number}-{n}", service="nginx") for n in range(number + 1)
        ]
        door.send(sent.alertmanager(*alerts, group=str(number)))
    newest = Incident.objects.latest("pk")
    for text in ("a", "b", "c"):
        as_reviewer.post(f"/incidents/{newest.pk}/note/", {"text": text})
    with django_assert_max_num_queries(12):
        as_reviewer.get("/incidents/?state=all&q=exports&severity=2")
    with django_assert_max_num_queries(35):
        as_reviewer.get(f"/incidents/{newest.pk}/")
    # More matching scripts must not slow the page down. It loads in less than a second.
    most = 40
    for number in range(6):
        text = f"echo {number}\n{script.script}"
        shelve(f"Free the disk of exports {number}", script=text, phrasings=[newest.statement])
        if number in (0, 5):
            with django_assert_max_num_queries(most) as asked:
                page = as_reviewer.get(f"/incidents/{newest.pk}/")
            most = len(asked)
    assert len(page.context["found"].matches) == 5


def test_the_list_shows_what_is_open_and_is_narrowed(door: Door, as_reviewer: Client) -> None:
    door.send(sent.alertmanager(sent.prometheus_alert("a", severity="info"), group="a"))
    door.send(sent.alertmanager(sent.prometheus_alert("b"), group="b"))
    door.send(sent.alertmanager(sent.prometheus_alert("b", resolved=True), group="b"))

    def shown(query: str) -> int:
        return as_reviewer.get(f"/incidents/{query}").text.count("row-title")

    assert [shown(one) for one in ("", "?state=resolved", "?state=all", "?severity=1")] == [
        1,
        1,
        2,
        0,
    ]
    assert [shown(one) for one in ("?q=exports+delete", "?q=elsewhere")] == [1, 0]
    assert as_reviewer.get("/incidents/?severity=9").status_code == 422
    answer = as_reviewer.get(
        "/api/v1/incidents/", {"state": "open", "severity": "4", "q": "exports"}
    ).json()
    assert [one["state"] for one in answer["results"]] == ["open"]


def test_a_script_that_was_suspended_meanwhile_is_not_copied(
    door: Door, script: Version, reviewer: User, curator: User, client_for: ClientFor
) -> None:
    incident = fire(door)
    suspend(script.entry, by=curator, reason="It stops more than it starts")
    filled = {"value-HOST": "h", "value-SERVICE": "s"}
    answer = client_for(reviewer).post(f"/incidents/{incident.pk}/use/{script.pk}/", filled)
    assert answer.status_code == 409 and not Use.objects.exists()


_CHANGES = re.compile(r'csrfmiddlewaretoken" value="\w+"|X-CSRFToken": "\w+"|[0-9.]+ (?:ms|s)\b')


@pytest.mark.slow
def test_incident_hides_the_verdict(manager: User, reviewer: User, as_reviewer: Client) -> None:
    campaign = make_study(by=manager, reviewers=[reviewer], items=2, overlap=1)
    item = campaign.items.order_by("pk")[0]
    rewriting.add_work(item.run)
    source = AlertSource.objects.create(kind="alertmanager", name="Ours")
    incident = Incident.objects.create(source=source, group="g", title="T", statement="Free it")
    IncidentEvent.objects.create(incident=incident, kind="asked", action=item.run.action)
    addresses = (f"/incidents/{incident.pk}/", f"/api/v1/incidents/{incident.pk}/", "/incidents/")

    def seen() -> list[str]:
        with transaction.atomic():
            pages = [_CHANGES.sub("", as_reviewer.get(one).text) for one in addresses]
            transaction.set_rollback(True)
        return pages

    flagged = seen()
    assert item.run.action.statement[:30] in flagged[0]
    rewriting.pass_it(Item.objects.get(pk=item.pk))
    assert seen() == flagged
