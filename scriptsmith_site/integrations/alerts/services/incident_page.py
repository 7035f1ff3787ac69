"""The data of an incident's page. Reading it needs no worker, model or broker."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.contrib.auth.models import Group, User
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from catalog import services as catalog
from catalog.access import access_versions
from catalog.models import Use, Version
from catalog.types import Match, Retrieval
from core.errors import BadInput
from core.texts import name_of
from pipeline import services as pipeline
from pipeline.access import access_actions
from scriptsmith_site.integrations.alerts.suggestions import Suggestion, suggest_values
from scriptsmith_site.models import Alert, AlertDelivery, Incident, IncidentEvent
from scriptsmith_site.people.roles import Role

_TEXTS = ("summary", "description")  # annotations that describe what happened
MOST_MATCHES = 5
MOST_ALERTS = 50
MOST_EVENTS = 200


@dataclass(frozen=True)
class ShownMatch:
    """A verified script that may help, with the outcomes of its uses."""

    match: Match
    version: Version
    track: object
    is_chosen: bool


@dataclass(frozen=True)
class Found:
    """The scripts found for the statement. `problem` says why no search was possible."""

    matches: Sequence[ShownMatch] = ()
    chosen: ShownMatch | None = None
    suggested: Sequence[Suggestion] = ()
    retrieval: Retrieval | None = None
    problem: str = ""


@dataclass(frozen=True)
class Moment:
    """One line of the timeline."""

    at: datetime
    kind: str
    words: str
    who: str = ""
    text: str = ""
    action: pipeline.ActionRow | None = None
    use: Use | None = None


def find_scripts(incident: Incident, user: User, *, chosen: int = 0) -> Found:
    """Return matching verified scripts, best first, and suggested parameter values for the chosen script."""
    retrieval, problem = None, ""
    texts, name = _searched(incident)
    for text in [*texts, name]:
        if not text or text == name and retrieval and retrieval.matches:
            continue  # an alert name is vague, so it is searched only if no other text finds a script
        try:
            found = catalog.retrieve(text, limit=MOST_MATCHES)
        except BadInput as refusal:
            problem = problem or str(refusal)
            continue
        retrieval = _best_of(retrieval, found) if retrieval else found
    if retrieval is None:
        return Found(problem=problem)
    ids = [match.version_id for match in retrieval.matches]
    versions = {one.pk: one for one in access_versions(user).filter(pk__in=ids)}
    tracks = catalog.track_records(ids)
    known = [match for match in retrieval.matches if match.version_id in versions]
    picked = next((one.version_id for one in known if one.version_id == chosen), 0)
    picked = picked or (known[0].version_id if known else 0)
    shown = [
        ShownMatch(
            match,
            versions[match.version_id],
            tracks.get(match.version_id, catalog.TrackRecord()),
            match.version_id == picked,
        )
        for match in known
    ]
    best = next((one for one in shown if one.is_chosen), None)
    suggested = (
        suggest_values(best.version, incident.labels, best.match.fills) if best is not None else []
    )
    return Found(shown, best, suggested, retrieval)


def _searched(incident: Incident) -> tuple[list[str], str]:
    """Return the texts to search for, and the alert's name split into words.

    If a user changed the statement, return only that statement.
    """
    of_alert = [incident.title, *(incident.annotations.get(one, "") for one in _TEXTS)]
    if incident.statement and incident.statement not in of_alert:
        return [incident.statement], ""
    name = incident.labels.get("alertname", "")
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[_-]+", " ", name)
    return list(dict.fromkeys([incident.statement or incident.title, *of_alert])), words


def _best_of(one: Retrieval, other: Retrieval) -> Retrieval:
    """Merge the matches of two searches. Each version appears once, and the highest confidence comes first."""
    surest: dict[int, Match] = {}
    for match in sorted([*one.matches, *other.matches], key=lambda match: -match.confidence):
        surest.setdefault(match.version_id, match)
    return replace(
        one, matches=tuple(surest.values())[:MOST_MATCHES], degraded=one.degraded or other.degraded
    )


def shown_alerts(incident: Incident) -> Sequence[Alert]:
    """Return the alerts of the group, firing alerts first."""
    alerts = incident.alerts.defer("annotations").order_by("state", "severity", "pk")
    return list(alerts[:MOST_ALERTS])


def timeline(incident: Incident, user: User) -> list[Moment]:
    """Return the timeline, newest first, with only those actions that the user may see."""
    events = list(
        incident.events.select_related("by", "to", "use__version__entry").order_by("-pk")[
            :MOST_EVENTS
        ]
    )
    asked = [event.action_id for event in events if event.action_id]
    rows = {
        row.action.pk: row
        for row in pipeline.action_rows(access_actions(user).filter(pk__in=asked), user)
    }
    return [_moment(event, rows) for event in events]


def _moment(event: IncidentEvent, rows: Mapping[int, pipeline.ActionRow]) -> Moment:
    return Moment(
        at=event.at,
        kind=event.kind,
        words=str(event.get_kind_display()),
        who=name_of(event.by) if event.by else "",
        text=name_of(event.to) if event.to else event.text,
        action=rows.get(event.action_id or 0),
        use=event.use,
    )


def uses_of(incident: Incident, user: User) -> list[Use]:
    """Return the latest uses of scripts that this user copied for the incident, newest first."""
    events = incident.events.filter(kind=IncidentEvent.Kind.COPIED, by=user)
    uses = Use.objects.select_related("version__entry").filter(pk__in=events.values("use"))
    return list(uses.order_by("-pk")[:10])


def people() -> QuerySet[User]:
    """Return the users to whom an incident can be assigned."""
    groups = Group.objects.filter(name=Role.REVIEWER.value)
    return User.objects.filter(is_active=True, groups__in=groups).order_by("username")


def search(
    incidents: QuerySet[Incident], *, words: str, state: str, severity: int | None
) -> QuerySet[Incident]:
    """Return the incidents in this state, of at least this severity, that contain all of the words.

    A word may be in the incident's statement, title, source, alert name, summary or description, or in one of its
    alerts.
    """
    for word in words.split()[:10]:
        texts = Q(title__icontains=word)
        for path in ("labels__alertname", *(f"annotations__{one}" for one in _TEXTS)):
            texts |= Q((f"{path}__icontains", word))
        of_alert = Exists(Alert.objects.filter(texts, incident=OuterRef("pk")))
        own = texts | Q(statement__icontains=word) | Q(source__name__icontains=word)
        incidents = incidents.filter(own | Q(of_alert))
    if state:
        incidents = incidents.filter(state=state)
    return incidents if severity is None else incidents.filter(severity__lte=severity)


def open_incidents(*, most: int) -> dict[str, object]:
    """Return the newest open incidents and the number of all open incidents, for the home page."""
    found = Incident.objects.filter(state=Incident.State.OPEN)
    shown = list(found.select_related("source", "taken_by").order_by("-pk")[:most])
    return {
        "incidents": shown,
        "incident_count": len(shown) if len(shown) < most else found.count(),
    }


def waiting_requests() -> int:
    """Return the number of unprocessed alert requests. Until they are processed, incidents may be missing."""
    return AlertDelivery.objects.filter(state=AlertDelivery.State.WAITING).count()


def say_degraded(found: Found) -> str:
    """Return a message that says why the search was limited, or an empty string."""
    if found.retrieval is None or not found.retrieval.degraded:
        return ""
    return _("Searched by words only: %(why)s") % {"why": found.retrieval.degraded}
