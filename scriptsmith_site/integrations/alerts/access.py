"""The only way for a view to obtain an incident, a source or a rule: or else 404, or 403.

Incidents are for whoever may ask or review; sources and rules for administrators.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from pipeline.access import ASK
from scriptsmith_site.models import AlertRule, AlertSource, Incident
from scriptsmith_site.people.roles import ADMINISTER

# Of reviews; that app gives it its meaning, here it is only a name.
REVIEW = "review.review"


def may_see_incidents(user: User) -> bool:
    """Whether incidents are this person's business."""
    return user.has_perm(ASK) or user.has_perm(REVIEW)


def access_incidents(user: User) -> QuerySet[Incident]:
    """The incidents that the person may see."""
    if not may_see_incidents(user):
        raise PermissionDenied(_("Incidents are for those who ask for scripts or review them."))
    return Incident.objects.select_related("source", "taken_by")


def access_incident(user: User, pk: int) -> Incident:
    """One incident."""
    return get_object_or_404(access_incidents(user), pk=pk)


def access_sources(user: User) -> QuerySet[AlertSource]:
    """The sources, for administrators."""
    _require_administrator(user)
    return AlertSource.objects.all()


def access_source(user: User, pk: int) -> AlertSource:
    """One source, for administrators."""
    return get_object_or_404(access_sources(user), pk=pk)


def access_rules(user: User) -> QuerySet[AlertRule]:
    """The rules, for administrators."""
    _require_administrator(user)
    return AlertRule.objects.select_related("source", "configuration", "account")


def access_rule(user: User, pk: int) -> AlertRule:
    """One rule, for administrators."""
    return get_object_or_404(access_rules(user), pk=pk)


def _require_administrator(user: User) -> None:
    if not user.has_perm(ADMINISTER):
        raise PermissionDenied(_("Sources of alerts are for administrators."))
