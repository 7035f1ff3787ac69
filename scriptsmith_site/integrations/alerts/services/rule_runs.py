"""Rules that request a script when an incident opens. They are off by default and have daily limits."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, time
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog import analysis
from core.audit import record
from core.errors import Refused
from pipeline import services as pipeline
from pipeline.access import ASK
from scriptsmith_site.integrations.alerts.matchers import BadMatcher, all_hold, read_matchers
from scriptsmith_site.integrations.alerts.suggestions import context_of
from scriptsmith_site.models import AlertRule, AlertRuleRun, Incident, IncidentEvent
from scriptsmith_site.people.services import require_administrator

logger = logging.getLogger(__name__)


def consider(incident: Incident) -> None:
    """Apply the first matching rule to a new incident. If the rule's budget is used up, the timeline says so.

    Call this function in the transaction that opens the incident. A rule's error is logged and does not prevent the
    incident. Only a broken database connection is raised.
    """
    try:
        with transaction.atomic():
            _consider(incident)
    except Exception:
        logger.exception("A rule failed for incident %s", incident.pk)
        IncidentEvent.objects.create(
            incident=incident,
            kind=IncidentEvent.Kind.RULE_HELD,
            text=_("The rule failed. See the workers' log."),
        )


def _consider(incident: Incident) -> None:
    rules = AlertRule.objects.select_for_update(of=("self",)).filter(is_on=True).order_by("pk")
    for rule in rules.select_related("configuration", "account"):
        if not _fits(rule, incident):
            continue
        if held := _why_held(rule, incident):
            _note(incident, rule, IncidentEvent.Kind.RULE_HELD, text=f"{rule.name}: {held}")
        else:
            _ask(rule, incident)
        return


class Trial(NamedTuple):
    """The result of a dry run: no incident, no match, held back for a reason, or a request."""

    incident: Incident | None = None
    fits: bool = False
    held: str = ""
    statement: str = ""  # the request text with secrets masked


def try_out(rule: AlertRule, *, by: User) -> Trial:
    """Return what the rule would do with the newest incident, even if the rule is off. Request nothing."""
    require_administrator(by)
    newest = Incident.objects.select_related("source").filter(erased_at=None).order_by("-pk")
    incident = (newest if rule.source_id is None else newest.filter(source=rule.source_id)).first()
    record(rule, "alert rule tested", by=by)
    if incident is None:
        return Trial()
    if not _fits(rule, incident):
        return Trial(incident)
    others = AlertRule.objects.filter(is_on=True, pk__lt=rule.pk).order_by("pk")
    before = next((one for one in others if _fits(one, incident)), None)
    held = _why_held(rule, incident)
    if before is not None:
        held = _("the rule %(name)s also matches and comes first") % {"name": before.name}
    statement = analysis.mask_secrets(incident.statement).text
    return Trial(incident, fits=True, held=held, statement=statement)


def runs_today(rule: AlertRule, *, source_id: int | None = None) -> int:
    """Return the number of runs that the rule requested since midnight UTC, in total or for one source."""
    midnight = datetime.combine(timezone.now().astimezone(UTC).date(), time(), UTC)
    runs = AlertRuleRun.objects.filter(rule=rule, at__gte=midnight)
    return (runs if source_id is None else runs.filter(incident__source=source_id)).count()


def _fits(rule: AlertRule, incident: Incident) -> bool:
    if rule.source_id not in (None, incident.source_id):
        return False
    try:
        matchers = read_matchers(rule.matchers)
    except BadMatcher:
        return False
    return incident.severity <= rule.least_severity and all_hold(matchers, incident.labels)


def _why_held(rule: AlertRule, incident: Incident) -> str:
    if not rule.account.is_active or not rule.account.has_perm(ASK):
        return _("its account may no longer request scripts")
    if runs_today(rule) >= rule.runs_per_day:
        return _("it has used its %(most)s runs for today") % {"most": rule.runs_per_day}
    if runs_today(rule, source_id=incident.source_id) >= rule.runs_per_source:
        return _("it has used its %(most)s runs for this source today") % {
            "most": rule.runs_per_source
        }
    return ""


def _ask(rule: AlertRule, incident: Incident) -> None:
    statement, context = analysis.mask_secrets(incident.statement), context_of(incident)
    masked = ", ".join((*statement.secrets, *context.secrets))
    try:
        with transaction.atomic():
            run = pipeline.ask_and_run(
                statement.text,
                by=rule.account,
                configuration=rule.configuration,
                incident=context.text,
                severity=incident.severity,
            )
            AlertRuleRun.objects.create(rule=rule, incident=incident, action_id=run.action_id)
    except Refused as refusal:
        _note(incident, rule, IncidentEvent.Kind.RULE_HELD, text=f"{rule.name}: {refusal}")
        return
    _note(incident, rule, IncidentEvent.Kind.RULE_ASKED, text=rule.name, action_id=run.action_id)
    record(
        rule,
        "script requested by rule",
        by=rule.account,
        incident=("", incident),
        action=("", run.action_id),
        **({"masked": ("", masked)} if masked else {}),
    )


def _note(
    incident: Incident,
    rule: AlertRule,
    kind: IncidentEvent.Kind,
    *,
    text: str,
    action_id: int | None = None,
) -> None:
    IncidentEvent.objects.create(
        incident=incident, kind=kind, by=rule.account, text=text, action_id=action_id
    )
