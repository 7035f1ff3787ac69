"""Users' actions on an incident: assign it, add a note, copy or request a script, and report the outcome."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog import services as catalog
from catalog.models import Use, Version
from core.audit import record
from core.errors import BadInput, NotAllowedNow
from core.texts import LONGEST_REASON, clean_text
from pipeline import services as pipeline
from pipeline.access import require_asker
from pipeline.models import Configuration, Run
from pipeline.types import SecretsChoice
from scriptsmith_site.integrations.alerts.access import may_see_incidents
from scriptsmith_site.integrations.alerts.services.processing import lock_group
from scriptsmith_site.models import Alert, Incident, IncidentEvent

Kind = IncidentEvent.Kind


def take(incident: Incident, *, by: User) -> None:
    """Assign the incident to `by`. The timeline records the change. Raises NotAllowedNow."""
    _hold(incident, by, by=by, kind=Kind.TAKEN)


def hand_over(incident: Incident, *, to: User, by: User) -> None:
    """Assign the incident to another user. Raises BadInput if that user may not see incidents."""
    if not to.is_active or not may_see_incidents(to):
        raise BadInput(_("Choose a user who can view incidents."), field="to")
    _hold(incident, to, by=by, kind=Kind.HANDED_OVER)


def give_back(incident: Incident, *, by: User) -> None:
    """Unassign the incident. Raises NotAllowedNow."""
    _hold(incident, None, by=by, kind=Kind.RELEASED)


@transaction.atomic
def _hold(incident: Incident, person: User | None, *, by: User, kind: IncidentEvent.Kind) -> None:
    expected = incident.taken_by
    if expected == person:
        raise NotAllowedNow(_("Nothing changed, because the incident already has this assignee."))
    now = timezone.now()
    changed = Incident.objects.filter(pk=incident.pk, taken_by=expected).update(
        taken_by=person, taken_at=now if person else None
    )
    if not changed:
        raise NotAllowedNow(_("Another user has just changed the assignee. Reload the page."))
    incident.taken_by, incident.taken_at = person, now if person else None
    _note(incident, kind, by=by, to=person if kind == Kind.HANDED_OVER else None)
    record(incident, f"incident {kind.label}", by=by, on_it=(_number(expected), _number(person)))


def _number(person: User | None) -> str:
    """Return an ID of the user for the audit log, where a name would remain after anonymization."""
    return "" if person is None else f"person-{person.pk}"


@transaction.atomic
def close(incident: Incident, *, by: User) -> None:
    """Resolve the incident of a source that never reports resolved alerts. A new alert may reopen it.

    Raises NotAllowedNow if the source reports resolved alerts, or if the incident is already resolved.
    """
    if incident.source.says_done:
        raise NotAllowedNow(
            _(
                "You can't close this incident here, because its source reports when the alert is resolved."
            )
        )
    lock_group(incident.source_id, incident.group)
    now = timezone.now()
    still = Incident.objects.filter(pk=incident.pk, state=Incident.State.OPEN)
    if not still.update(state=Incident.State.RESOLVED, resolved_at=now, firing=0, unkept=0):
        raise NotAllowedNow(_("This incident is already resolved."))
    firing = incident.alerts.filter(state=Alert.State.FIRING)
    firing.update(state=Alert.State.RESOLVED, ends_at=now)
    incident.refresh_from_db()
    _note(incident, Kind.CLOSED, by=by)
    record(incident, "incident closed", by=by)


def add_note(incident: Incident, *, text: str, by: User) -> None:
    """Add a note to the timeline. Raises BadInput."""
    text = clean_text(text, field="text", longest=LONGEST_REASON)
    _note(incident, Kind.NOTED, by=by, text=text)


@transaction.atomic
def reword(incident: Incident, *, statement: str, by: User) -> None:
    """Change the incident's statement. Raises BadInput."""
    statement = clean_text(statement, field="statement", longest=pipeline.MAX_STATEMENT)
    if statement == incident.statement:
        return
    Incident.objects.filter(pk=incident.pk).update(statement=statement)
    incident.statement = statement
    _note(incident, Kind.REWORDED, by=by, text=statement)


@transaction.atomic
def copy_script(
    incident: Incident, version: Version, *, values: Mapping[str, str], by: User
) -> Use:
    """Record that `by` copied the script for this incident. Raises the errors of `catalog.record_use`."""
    use = catalog.record_use(version, by=by, values=values).use
    _note(incident, Kind.COPIED, by=by, use=use)
    record(incident, "script copied", by=by, version=("", version))
    return use


@transaction.atomic
def ask_for_one(
    incident: Incident,
    *,
    statement: str,
    context: str,
    target: str,
    severity: int,
    configuration: Configuration,
    by: User,
    secrets: SecretsChoice | None = None,
    masks_stored: bool = False,
) -> Run:
    """Request a script and add it to the timeline. Raises PermissionDenied, BadInput and SecretsFound."""
    require_asker(by)
    run = pipeline.ask_and_run(
        statement,
        by=by,
        configuration=configuration,
        incident=context,
        target=target,
        severity=severity,
        secrets=secrets,
        masks_stored=masks_stored,
    )
    _note(incident, Kind.ASKED, by=by, action_id=run.action_id)
    record(incident, "script requested", by=by, action=("", run.action_id))
    return run


@transaction.atomic
def say_outcome(incident: Incident, use: Use, *, outcome: str, note: str, by: User) -> None:
    """Report the outcome to the catalogue. Raises the errors of `catalog.record_outcome`."""
    # Pass only the number, because the catalogue and the audit log would store the title, which is external text.
    rated = catalog.record_outcome(
        use, outcome=outcome, by=by, incident=f"#{incident.pk}", note=note
    )
    _note(incident, Kind.OUTCOME, by=by, use=rated.use, text=str(rated.use.get_outcome_display()))


def _note(incident: Incident, kind: Kind, *, by: User, **more: object) -> None:
    IncidentEvent.objects.create(incident=incident, kind=kind, by=by, **more)
