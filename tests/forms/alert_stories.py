"""Form stories of incidents, sources of alerts and rules."""

from __future__ import annotations

from catalog.models import Use
from pipeline.models import Action, Configuration
from scriptsmith_site.integrations.alerts.services import sources
from scriptsmith_site.models import (
    AlertKey,
    AlertRule,
    AlertSource,
    Incident,
    IncidentEvent,
    Profile,
)
from tests.catalog.shelf import DIRECTORY, SCRIPT, shelve
from tests.forms.story import Story, World, now
from tests.people import make_person
from tests.site.alerts.payloads import GENERIC_MAPPING

STATEMENT = "List files older than 30 days"


def an_incident(world: World) -> str:
    source = AlertSource.objects.create(kind="alertmanager", name="Ours")
    world.incident = Incident.objects.create(
        source=source, group="g", title="Old files", statement=STATEMENT, firing=1
    )
    return f"/incidents/{world.incident.pk}/"


def an_incident_of_a_silent_source(world: World) -> str:
    address = an_incident(world)
    AlertSource.objects.update(kind="generic", mapping={"title": "/t", "key": "/k"})
    Incident.objects.update(group="0" * 64)
    return address


def an_incident_with_a_script(world: World) -> str:
    world.version = shelve(STATEMENT, script=SCRIPT, parameters=[DIRECTORY])
    return an_incident(world)


def an_incident_in_hand(world: World) -> str:
    address = an_incident(world)
    Incident.objects.update(taken_by=world.me)
    return address


def an_incident_of_somebody(world: World) -> str:
    address = an_incident(world)
    Incident.objects.update(taken_by=world.person("second_reviewer"))
    return address


def an_incident_with_a_use(world: World) -> str:
    address = an_incident_with_a_script(world)
    world.use = Use.objects.create(version=world.version, by=world.me, values={"DIRECTORY": "/srv"})
    IncidentEvent.objects.create(incident=world.incident, kind="copied", by=world.me, use=world.use)
    return address


def an_incident_just_copied(world: World) -> str:
    return f"{an_incident_with_a_use(world)}?copied={world.use.pk}"


def colleagues(world: World) -> str:
    world.person("second_reviewer")
    return an_incident(world)


def a_source(world: World, kind: str = "alertmanager") -> str:
    world.source = sources.add_source(kind, by=world.me, details={"name": "Ours"})
    return f"/alert-sources/{world.source.pk}/"


def a_source_with_a_key(world: World) -> str:
    address = a_source(world)
    sources.make_key(world.source, by=world.me)
    return address


def a_paused_source(world: World) -> str:
    address = a_source(world)
    sources.set_paused(world.source, True, by=world.me)
    return address


def an_account(world: World) -> str:
    world.robot = make_person("robot", "reviewer")
    Profile.objects.update_or_create(user=world.robot, defaults={"service_account": True})
    return "/alert-rules/new/"


def a_rule(world: World) -> str:
    an_account(world)
    world.rule = AlertRule.objects.create(
        name="R", configuration=Configuration.objects.get(name="demo"), account=world.robot
    )
    return "/alert-rules/"


def event(world: World, kind: str) -> IncidentEvent:
    return IncidentEvent.objects.get(incident=world.incident, kind=kind)


ALERTS = (
    Story(
        "site/incidents/_use.html",
        "reviewer",
        an_incident_with_a_script,
        "incident-use",
        fill={"value-DIRECTORY": "/srv/files"},
        press="Copy",
        then=lambda w: (
            Use.objects.get().values == {"DIRECTORY": "/srv/files"}
            and event(w, "copied").use_id
            and "/srv/files" in w.text
        ),
    ),
    Story(
        "site/incidents/_use.html",
        "reviewer",
        an_incident_with_a_script,
        "incident-use",
        fill={"value-DIRECTORY": "/srv/files"},
        press="Preview",
        then=lambda w: "/srv/files" in w.text and not Use.objects.exists(),
        name="preview",
    ),
    Story(
        "site/incidents/_statement.html",
        "reviewer",
        an_incident,
        "incident-reword",
        fill={"statement": "Restart nginx"},
        press="Search again",
        then=lambda w: now(w.incident).statement == "Restart nginx",
    ),
    Story(
        "site/incidents/detail.html",
        "reviewer",
        an_incident,
        "incident-take",
        press="Take it",
        then=lambda w: now(w.incident).taken_by == w.me,
    ),
    Story(
        "site/incidents/detail.html",
        "reviewer",
        an_incident_of_a_silent_source,
        "incident-close",
        press="It is over",
        then=lambda w: now(w.incident).state == "resolved" and event(w, "closed").by == w.me,
    ),
    Story(
        "site/incidents/_people.html",
        "reviewer",
        an_incident_in_hand,
        "incident-give-back",
        press="Give it back",
        then=lambda w: now(w.incident).taken_by is None,
    ),
    Story(
        "site/incidents/_people.html",
        "reviewer",
        an_incident_of_somebody,
        "incident-take",
        press="Take it over",
        then=lambda w: now(w.incident).taken_by == w.me,
    ),
    Story(
        "site/incidents/_people.html",
        "reviewer",
        colleagues,
        "incident-hand-over",
        fill=lambda w: {"to": str(w.person("second_reviewer").pk)},
        press="Hand over",
        then=lambda w: now(w.incident).taken_by == w.person("second_reviewer"),
    ),
    Story(
        "site/incidents/_timeline.html",
        "reviewer",
        an_incident,
        "incident-note",
        fill={"text": "Looks like last week"},
        press="Add the note",
        then=lambda w: event(w, "noted").text == "Looks like last week",
    ),
    Story(
        "site/incidents/_outcome_form.html",
        "reviewer",
        an_incident_with_a_use,
        "incident-outcome",
        fill={"note": "Half of it was free again"},
        press="Worked",
        then=lambda w: now(w.use).outcome == "worked" and event(w, "outcome").use_id == w.use.pk,
    ),
    Story(
        "site/incidents/_outcome_form.html",
        "reviewer",
        an_incident_just_copied,
        "incident-outcome",
        press="Made it worse",
        then=lambda w: now(w.version.entry).suspended_at,
        name="worse, where it was just copied",
    ),
    Story(
        "site/incidents/ask.html",
        "reviewer",
        lambda w: an_incident(w) + "ask/",
        "incident-ask",
        fill={"target": "web-1"},
        press="Ask",
        then=lambda w: (
            Action.objects.get().statement == STATEMENT
            and "Old files" in Action.objects.get().incident
            and event(w, "asked").action_id
        ),
    ),
    Story(
        "site/alerts/source_form.html",
        "administrator",
        lambda w: "/alert-sources/new/generic/",
        "alert-source-new",
        fill={
            "name": "Our tool",
            **{f"at_{part}": pointer for part, pointer in GENERIC_MAPPING.items()},
        },
        press="Add it",
        then=lambda w: (
            AlertSource.objects.get().mapping == GENERIC_MAPPING
            and "shown only this once" in w.text
        ),
    ),
    Story(
        "site/alerts/source_form.html",
        "administrator",
        lambda w: a_source(w) + "edit/",
        "alert-source-edit",
        fill={"matchers": 'team="web"', "least_severity": "2"},
        press="Save",
        then=lambda w: now(w.source).matchers == 'team="web"' and now(w.source).least_severity == 2,
    ),
    Story(
        "site/alerts/source.html",
        "administrator",
        a_source,
        "alert-source-test",
        press="Test now",
        then=lambda w: (
            Incident.objects.get().source == w.source
            and "The sample made incident" in w.text
            and not AlertKey.objects.exists()
        ),
    ),
    Story(
        "site/alerts/source.html",
        "administrator",
        a_source,
        "alert-key-new",
        press="Make another secret",
        then=lambda w: AlertKey.objects.get().sha256 and "shown only this once" in w.text,
    ),
    Story(
        "site/alerts/source.html",
        "administrator",
        lambda w: a_source(w, "pagerduty"),
        "alert-key-new",
        fill={"secret": "a-secret-of-pagerduty-0123"},
        press="Keep the secret",
        then=lambda w: AlertKey.objects.get().sealed and "0123" not in w.text,
        name="of PagerDuty",
    ),
    Story(
        "site/alerts/source.html",
        "administrator",
        a_source_with_a_key,
        "alert-key-revoke",
        press="Revoke",
        then=lambda w: AlertKey.objects.get().revoked_at,
    ),
    Story(
        "site/alerts/source.html",
        "administrator",
        a_source,
        "alert-source-pause",
        press="Pause",
        then=lambda w: now(w.source).paused_at,
    ),
    Story(
        "site/alerts/source.html",
        "administrator",
        a_paused_source,
        "alert-source-resume",
        press="Resume",
        then=lambda w: now(w.source).paused_at is None,
    ),
    Story(
        "site/alerts/rule_form.html",
        "administrator",
        an_account,
        "alert-rule-new",
        fill=lambda w: {
            "name": "Critical ones",
            "configuration": "demo",
            "account": str(w.robot.pk),
        },
        press="Save",
        then=lambda w: AlertRule.objects.get().is_on is False,
    ),
    Story(
        "site/alerts/rules.html",
        "administrator",
        a_rule,
        "alert-rule-switch",
        press="Switch on",
        then=lambda w: now(w.rule).is_on,
    ),
)
