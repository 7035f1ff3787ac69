"""Form stories for incidents, alert sources and rules."""

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


ALERTS = {
    ("site/incidents/_use.html", "reviewer"): [
        Story(
            an_incident_with_a_script, "incident-use", "Copy", {"value-DIRECTORY": "/srv/files"}
        ).then(
            lambda w: (
                Use.objects.get().values == {"DIRECTORY": "/srv/files"}
                and event(w, "copied").use_id
                and "/srv/files" in w.text
            )
        ),
        Story(
            an_incident_with_a_script,
            "incident-use",
            "Preview",
            {"value-DIRECTORY": "/srv/files"},
            name="preview",
        ).then(lambda w: "/srv/files" in w.text and not Use.objects.exists()),
    ],
    ("site/incidents/_statement.html", "reviewer"): [
        Story(an_incident, "incident-reword", "Search again", {"statement": "Restart nginx"}).then(
            lambda w: now(w.incident).statement == "Restart nginx"
        )
    ],
    ("site/incidents/detail.html", "reviewer"): [
        Story(an_incident, "incident-take", "Assign to me").then(
            lambda w: now(w.incident).taken_by == w.me
        ),
        Story(an_incident_of_a_silent_source, "incident-close", "Mark as resolved").then(
            lambda w: now(w.incident).state == "resolved" and event(w, "closed").by == w.me
        ),
    ],
    ("site/incidents/_people.html", "reviewer"): [
        Story(an_incident_in_hand, "incident-give-back", "Unassign").then(
            lambda w: now(w.incident).taken_by is None
        ),
        Story(an_incident_of_somebody, "incident-take", "Assign to me").then(
            lambda w: now(w.incident).taken_by == w.me
        ),
        Story(
            colleagues,
            "incident-hand-over",
            "Reassign",
            lambda w: {"to": str(w.person("second_reviewer").pk)},
        ).then(lambda w: now(w.incident).taken_by == w.person("second_reviewer")),
    ],
    ("site/incidents/_timeline.html", "reviewer"): [
        Story(an_incident, "incident-note", "Add note", {"text": "Looks like last week"}).then(
            lambda w: event(w, "noted").text == "Looks like last week"
        )
    ],
    ("site/incidents/_outcome_form.html", "reviewer"): [
        Story(
            an_incident_with_a_use,
            "incident-outcome",
            "Worked",
            {"note": "Half of it was free again"},
        ).then(lambda w: now(w.use).outcome == "worked" and event(w, "outcome").use_id == w.use.pk),
        Story(
            an_incident_with_a_use,
            "incident-outcome",
            fill={"note": "Half of it was free again"},
            name="Enter in a field",
            status=422,
        ).then(lambda w: not now(w.use).outcome and "Half of it was free again" in w.text),
        Story(
            an_incident_just_copied,
            "incident-outcome",
            "Made it worse",
            name="worse, where it was just copied",
        ).then(lambda w: now(w.version.entry).suspended_at),
    ],
    ("site/incidents/ask.html", "reviewer"): [
        Story(
            lambda w: an_incident(w) + "ask/", "incident-ask", "Request script", {"target": "web-1"}
        ).then(
            lambda w: (
                Action.objects.get().statement == STATEMENT
                and "Old files" in Action.objects.get().incident
                and event(w, "asked").action_id
            )
        )
    ],
    ("site/alerts/source_form.html", "administrator"): [
        Story(
            lambda w: "/alert-sources/new/generic/",
            "alert-source-new",
            "Add",
            {
                "name": "Our tool",
                **{f"at_{part}": pointer for part, pointer in GENERIC_MAPPING.items()},
            },
        ).then(
            lambda w: (
                AlertSource.objects.get().mapping == GENERIC_MAPPING and "shown only once" in w.text
            )
        ),
        Story(
            lambda w: a_source(w) + "edit/",
            "alert-source-edit",
            "Save",
            {"matchers": 'team="web"', "least_severity": "2"},
        ).then(
            lambda w: now(w.source).matchers == 'team="web"' and now(w.source).least_severity == 2
        ),
    ],
    ("site/alerts/source.html", "administrator"): [
        Story(a_source, "alert-source-test", "Test now").then(
            lambda w: (
                Incident.objects.get().source == w.source
                and "The sample opened incident" in w.text
                and not AlertKey.objects.exists()
            )
        ),
        Story(a_source, "alert-key-new", "Create another secret").then(
            lambda w: AlertKey.objects.get().sha256 and "shown only once" in w.text
        ),
        Story(
            lambda w: a_source(w, "pagerduty"),
            "alert-key-new",
            "Save secret",
            {"secret": "a-secret-of-pagerduty-0123"},
            name="of PagerDuty",
        ).then(lambda w: AlertKey.objects.get().sealed and "0123" not in w.text),
        Story(a_source_with_a_key, "alert-key-revoke", "Revoke").then(
            lambda w: AlertKey.objects.get().revoked_at
        ),
        Story(a_source, "alert-source-pause", "Pause").then(lambda w: now(w.source).paused_at),
        Story(a_paused_source, "alert-source-resume", "Resume").then(
            lambda w: now(w.source).paused_at is None
        ),
    ],
    ("site/alerts/rule_form.html", "administrator"): [
        Story(
            an_account,
            "alert-rule-new",
            "Save",
            lambda w: {
                "name": "Critical ones",
                "configuration": "demo",
                "account": str(w.robot.pk),
            },
        ).then(lambda w: AlertRule.objects.get().is_on is False)
    ],
    ("site/alerts/rules.html", "administrator"): [
        Story(a_rule, "alert-rule-switch", "Turn on").then(lambda w: now(w.rule).is_on)
    ],
}
