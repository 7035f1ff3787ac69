"""Tests that rules request scripts as users do, within a budget, once an administrator has enabled the rules."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from auditlog.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from core.errors import BadInput
from pipeline.models import Action, Configuration, Run
from scriptsmith_site.integrations.alerts.services import sources, testing
from scriptsmith_site.models import AlertRule, AlertRuleRun, Incident, IncidentEvent, Profile
from tests.people import make_person
from tests.site.alerts import payloads as sent
from tests.site.alerts.conftest import Door, OpenDoor

pytestmark = pytest.mark.django_db


@pytest.fixture
def robot() -> User:
    account = make_person("robot", "reviewer")
    Profile.objects.update_or_create(user=account, defaults={"service_account": True})
    return account


@pytest.fixture
def rule(administrator: User, robot: User) -> AlertRule:
    return sources.save_rule(
        AlertRule(),
        by=administrator,
        name="Critical exports",
        matchers='alertname="OldExports"',
        configuration=Configuration.objects.get(name="demo"),
        account=robot,
        runs_per_day=2,
        runs_per_source=2,
    )


def fire(door: Door, number: int, **labels: str) -> Incident:
    alert = sent.prometheus_alert(f"a{number}", **labels)
    door.send(sent.alertmanager(alert, group=f"g{number}"))
    return Incident.objects.latest("pk")


def test_new_rule_is_off(door: Door, rule: AlertRule, administrator: User, robot: User) -> None:
    fire(door, 1)
    assert not Action.objects.exists()
    sources.switch_rule(rule, True, by=administrator)
    incident = fire(door, 2, key="AKIAABCDEFGHIJKLMNOP")
    run = Run.objects.get()
    assert (run.asked_by, run.action.asked_by) == (robot, robot)
    assert "OldExports" in run.action.incident and "AKIA" not in run.action.incident
    event = IncidentEvent.objects.get(kind="rule-asked")
    assert (event.incident, event.action, event.text) == (incident, run.action, rule.name)
    assert LogEntry.objects.filter(
        additional_data__event="script requested by rule", actor=robot
    ).exists()


def test_its_budget_is_that_of_a_day_and_said_on_the_card(
    door: Door, rule: AlertRule, administrator: User, open_door: OpenDoor
) -> None:
    sources.switch_rule(rule, True, by=administrator)
    for number in range(3):
        fire(door, number)
    assert Run.objects.count() == 2
    held = IncidentEvent.objects.get(kind="rule-held")
    assert "has used" in held.text and held.incident == Incident.objects.latest("pk")
    AlertRuleRun.objects.update(at=timezone.now() - timedelta(days=1))
    AlertRule.objects.update(runs_per_day=9, runs_per_source=1)
    fire(door, 4)
    fire(door, 5)
    assert Run.objects.count() == 3, "one source has used its own share up"
    fire(open_door(name="other"), 6)
    assert Run.objects.count() == 4


def test_a_rule_says_what_it_would_ask_and_asks_nothing(
    open_door: OpenDoor, rule: AlertRule, as_administrator: Client
) -> None:
    def tried() -> str:
        page = as_administrator.post(f"/alert-rules/{rule.pk}/test/", follow=True)
        (said,) = page.context["messages"]
        return str(said)

    assert "no incidents" in tried()
    alert = sent.prometheus_alert("a1")
    alert["annotations"] |= {"summary": "Restart it with password=Tulip88!x"}
    open_door(name="one").send(sent.alertmanager(alert))
    fits = Incident.objects.get()
    words = f"would request a script for incident {fits.pk}: “Restart it with password=***”"
    assert words in tried(), "though it is off"
    fire(open_door(name="other"), 2, alertname="Other")
    assert f"does not match incident {Incident.objects.latest('pk').pk}" in tried()
    AlertRule.objects.update(source=fits.source, runs_per_day=0)
    assert "would not request a script: it has used its 0 runs for today" in tried()
    assert not Action.objects.exists() and not AlertRuleRun.objects.exists()
    logged = LogEntry.objects.filter(additional_data__event="alert rule tested")
    assert logged.count() == 4


def test_rule_without_account_asks_nothing(
    door: Door, rule: AlertRule, administrator: User, robot: User
) -> None:
    sources.switch_rule(rule, True, by=administrator)
    robot.groups.clear()
    incident = fire(door, 1)
    assert incident.is_open and not Run.objects.exists()
    assert IncidentEvent.objects.filter(kind="rule-held").exists()


def test_unfit_alert_asks_nothing(door: Door, rule: AlertRule, administrator: User) -> None:
    sources.switch_rule(rule, True, by=administrator)
    fire(door, 1, alertname="Other")
    fire(door, 2, severity="info")
    assert not Run.objects.exists()
    for _time in range(3):
        fire(door, 3)
    assert Run.objects.count() == 1


def test_changed_rule_is_logged(rule: AlertRule, administrator: User, reviewer: User) -> None:
    sources.save_rule(rule, by=administrator, runs_per_day=1_000, name=rule.name)
    entry = LogEntry.objects.get(additional_data__event="alert rule changed")
    assert entry.changes == {"runs_per_day": ["2", "1000"]}
    with pytest.raises(BadInput, match="service account"):
        sources.save_rule(rule, by=administrator, account=reviewer)


def test_a_defect_in_a_rule_opens_the_incident_all_the_same(
    door: Door, rule: AlertRule, administrator: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_more: object) -> None:
        Configuration.objects.create(name="demo")  # violates a unique constraint

    monkeypatch.setattr("pipeline.services.ask_and_run", fail)
    sources.switch_rule(rule, True, by=administrator)
    incident = fire(door, 1)
    assert incident.is_open and incident.firing == 1
    assert IncidentEvent.objects.filter(kind="rule-held", incident=incident).exists()


def test_a_test_of_a_source_asks_no_rule_and_names_its_own_incident(
    door: Door,
    rule: AlertRule,
    administrator: User,
    django_capture_on_commit_callbacks: Callable[..., object],
) -> None:
    sources.switch_rule(rule, True, by=administrator)
    sources.save_rule(rule, by=administrator, matchers="")
    with django_capture_on_commit_callbacks() as told:
        tested = testing.test_source(door.source, by=administrator)
    assert tested.incident == Incident.objects.get() and "Test" in tested.incident.title
    assert not told and not Run.objects.exists()
    door.source.refresh_from_db()
    assert door.source.last_success_at is None and door.source.keys.count() == 1
    door.source.least_severity, door.source.matchers = 1, 'team="nobody"'
    door.source.save()
    assert testing.test_source(door.source, by=administrator) == (None, True)


def test_unusable_request_opens_incident(door: Door, rule: AlertRule, administrator: User) -> None:
    sources.switch_rule(rule, True, by=administrator)
    sources.save_rule(rule, by=administrator, matchers="")
    alert = sent.prometheus_alert()
    alert["labels"], alert["annotations"] = {"severity": "critical"}, {}
    door.send(sent.alertmanager(alert))
    assert Incident.objects.get().is_open
    assert IncidentEvent.objects.filter(kind="rule-held").exists() and not Run.objects.exists()


EDITION = re.compile(r'name="edition" value="(\d+)"')


def test_second_editor_is_told(door: Door, administrator: User, as_administrator: Client) -> None:
    robot = make_person("robot", "reviewer")
    Profile.objects.update_or_create(user=robot, defaults={"service_account": True})
    demo = Configuration.objects.get(name="demo")
    given = {"name": "Ours", "account": robot, "configuration": demo}
    rule = sources.save_rule(AlertRule(), by=administrator, **given)
    common = {"name": "Ours", "least_severity": "2"}
    of_source = {"requests_per_minute": "60", "most_open": "10"}
    of_rule = {"configuration": "demo", "account": str(robot.pk)}
    of_rule |= {"runs_per_day": "3", "runs_per_source": "3"}
    for row, url, own in (
        (door.source, f"/alert-sources/{door.source.pk}/edit/", of_source),
        (rule, f"/alert-rules/{rule.pk}/", of_rule),
    ):
        typed = common | own
        (seen,) = EDITION.findall(as_administrator.get(url).text)
        first = typed | {"matchers": 'team="a"', "edition": seen}
        assert as_administrator.post(url, first).status_code == 302
        second = typed | {"matchers": 'team="b"'}
        refused = as_administrator.post(url, second | {"edition": seen})
        assert refused.status_code == 409 and "Another user" in refused.text
        assert "team=&quot;b&quot;" in refused.text
        row.refresh_from_db()
        assert row.matchers == 'team="a"'
        (newest,) = EDITION.findall(refused.text)
        assert as_administrator.post(url, second | {"edition": newest}).status_code == 302
        row.refresh_from_db()
        assert row.matchers == 'team="b"' and row.edition == 3
