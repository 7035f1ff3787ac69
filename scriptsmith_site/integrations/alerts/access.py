"""Access to incidents, sources and rules. Views must use these functions, which raise 404 or 403.

Requesters and reviewers may see incidents. Only administrators may see sources and rules.
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

# The review app defines this permission. This package only needs its name.
REVIEW = "review.review"


def may_see_incidents(user: User) -> bool:
    """Return whether the user may see incidents."""
    return user.has_perm(ASK) or user.has_perm(REVIEW)


def access_incidents(user: User) -> QuerySet[Incident]:
    """Return the incidents that the user may see."""
    if not may_see_incidents(user):
        raise PermissionDenied(_("Viewing incidents requires the Reviewer role."))
    return Incident.objects.select_related("source", "taken_by")


def access_incident(user: User, pk: int) -> Incident:
    """Return this incident if the user may see it."""
    return get_object_or_404(access_incidents(user), pk=pk)


def access_sources(user: User) -> QuerySet[AlertSource]:
    """Return all alert sources. Only administrators have access."""
    _require_administrator(user)
    return AlertSource.objects.all()


def access_source(user: User, pk: int) -> AlertSource:
    """Return this alert source. Only administrators have access."""
    return get_object_or_404(access_sources(user), pk=pk)


def access_rules(user: User) -> QuerySet[AlertRule]:
    """Return all rules. Only administrators have access."""
    _require_administrator(user)
    return AlertRule.objects.select_related("source", "configuration", "account")


def access_rule(user: User, pk: int) -> AlertRule:
    """Return this rule. Only administrators have access."""
    return get_object_or_404(access_rules(user), pk=pk)


def _require_administrator(user: User) -> None:
    if not user.has_perm(ADMINISTER):
        raise PermissionDenied(_("Managing alert sources requires the Administrator role."))
