"""The overview of all integrations and their health. Each integration adds its row to DOORS."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from django.conf import settings
from django.db.models import Count, F, Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_safe

from core.web.requests import signed_in
from scriptsmith_site.integrations.agents.calls import last_calls, live_tokens
from scriptsmith_site.integrations.agents.pause import is_paused
from scriptsmith_site.integrations.notifications import mail_door
from scriptsmith_site.integrations.single_sign_on.door import state_of, the_door
from scriptsmith_site.models import (
    AlertRule,
    AlertRuleRun,
    AlertSource,
    ChatCommand,
    Destination,
    IncidentEvent,
    Mirror,
)
from scriptsmith_site.people.services import require_administrator


class ShownDoor(NamedTuple):
    """One row. `state` is off, new, works, paused or fails, and `note` describes the setup."""

    label: str | Promise
    what: str | Promise
    url: str
    state: str
    note: str
    last_success_at: datetime | None = None
    last_error_at: datetime | None = None
    last_error: str = ""


def _destinations(label: str | Promise, what: str | Promise, chosen: Q) -> ShownDoor:
    found = Destination.objects.filter(chosen)
    sums = found.aggregate(
        count=Count("pk"),
        paused=Count("pk", filter=Q(paused_at__isnull=False)),
        failing=Count("pk", filter=Q(failing_since__isnull=False)),
        success=Max("last_success_at"),
    )
    failed = found.filter(last_error_at__isnull=False).order_by("-last_error_at").first()
    state = "works"
    if not sums["count"]:
        state = "off"
    elif sums["failing"]:
        state = "fails"
    elif sums["paused"] == sums["count"]:
        state = "paused"
    note = ngettext("%s destination", "%s destinations", sums["count"]) % sums["count"]
    return ShownDoor(
        label,
        what,
        reverse("destination-list"),
        state,
        note if sums["count"] else "",
        sums["success"],
        failed.last_error_at if failed else None,
        f"{failed.name}: {failed.last_error}" if failed else "",
    )


def _webhooks() -> ShownDoor:
    return _destinations(
        gettext_lazy("Webhooks"),
        gettext_lazy("Send signed events to your own programs."),
        Q(kind=Destination.Kind.WEBHOOK),
    )


def _channels() -> ShownDoor:
    return _destinations(
        gettext_lazy("Chat channels"),
        gettext_lazy("Post events in Slack, Mattermost and Microsoft Teams."),
        ~Q(kind=Destination.Kind.WEBHOOK),
    )


def _mail() -> ShownDoor:
    door = mail_door.the_door()
    return ShownDoor(
        gettext_lazy("Email"),
        gettext_lazy("Send notifications to users, according to each user's settings."),
        reverse("mail-door"),
        mail_door.state_of(door),
        settings.EMAIL_HOST or _("SCRIPTSMITH_MAIL_URL is not set"),
        door.last_success_at,
        door.last_error_at,
        door.last_error,
    )


def _mirror() -> ShownDoor:
    found = Mirror.objects.first()
    state = "off"
    if found is not None:
        state = "works" if found.last_success_at else "new"
        if found.failures or found.diverged_at:
            state = "fails"
        elif found.paused_at:
            state = "paused"
    return ShownDoor(
        gettext_lazy("Git mirror"),
        gettext_lazy("Mirror the catalogue in a Git repository, with one commit per publication."),
        reverse("mirror"),
        state,
        found.address if found else "",
        found.last_success_at if found else None,
        found.last_error_at if found else None,
        found.last_error if found else "",
    )


def _alert_sources() -> ShownDoor:
    sums = AlertSource.objects.aggregate(
        count=Count("pk"),
        paused=Count("pk", filter=Q(paused_at__isnull=False)),
        failing=Count(
            "pk",
            filter=Q(paused_at=None, last_error_at__isnull=False)
            & (Q(last_success_at=None) | Q(last_success_at__lt=F("last_error_at"))),
        ),
        success=Max("last_success_at"),
    )
    failed = (
        AlertSource.objects.filter(last_error_at__isnull=False).order_by("-last_error_at").first()
    )
    count = sums["count"]
    state = "works" if sums["success"] else "new"
    if not count:
        state = "off"
    elif sums["failing"]:
        state = "fails"
    elif sums["paused"] == count:
        state = "paused"
    return ShownDoor(
        gettext_lazy("Alert sources"),
        gettext_lazy(
            "Turn alerts from Alertmanager, Grafana, PagerDuty and others into incidents."
        ),
        reverse("alert-sources"),
        state,
        ngettext("%s source", "%s sources", count) % count if count else "",
        sums["success"],
        failed.last_error_at if failed else None,
        f"{failed.name}: {failed.last_error}" if failed else "",
    )


def _alert_rules() -> ShownDoor:
    sums = AlertRule.objects.aggregate(count=Count("pk"), on=Count("pk", filter=Q(is_on=True)))
    words = ngettext(
        "%(on)s of %(count)s rule is on", "%(on)s of %(count)s rules are on", sums["count"]
    )
    told = IncidentEvent.objects.filter(kind=IncidentEvent.Kind.RULE_HELD).order_by("-pk")
    held = told.first() if sums["count"] else None
    return ShownDoor(
        gettext_lazy("Alert rules"),
        gettext_lazy("Request a script when an incident opens, within a budget."),
        reverse("alert-rules"),
        "works" if sums["on"] else "off",
        words % sums if sums["count"] else "",
        AlertRuleRun.objects.aggregate(at=Max("at"))["at"],
        held.at if held else None,
        held.text if held else "",
    )


def _agents() -> ShownDoor:
    calls, tokens = last_calls(), live_tokens().count()
    answered = next((one for one in calls if not one.was_refused), None)
    refused = next((one for one in calls if one.was_refused), None)
    state = "works" if answered else "new"
    if is_paused():
        state = "paused"
    elif not tokens:
        state = "off"
    return ShownDoor(
        gettext_lazy("Agents"),
        gettext_lazy(
            "Let programs find, copy and check scripts through the Model Context Protocol."
        ),
        reverse("agents"),
        state,
        ngettext("%s token", "%s tokens", tokens) % tokens if tokens else "",
        answered.record.timestamp if answered else None,
        refused.record.timestamp if refused else None,
        _("%s failed") % refused.tool if refused else "",
    )


def _chat_commands() -> ShownDoor:
    sums = ChatCommand.objects.aggregate(
        count=Count("pk"),
        paused=Count("pk", filter=Q(paused_at__isnull=False)),
        failing=Count(
            "pk",
            filter=Q(paused_at=None, last_error_at__isnull=False)
            & (Q(last_success_at=None) | Q(last_success_at__lt=F("last_error_at"))),
        ),
        success=Max("last_success_at"),
    )
    failed = (
        ChatCommand.objects.filter(last_error_at__isnull=False).order_by("-last_error_at").first()
    )
    count = sums["count"]
    state = "works" if sums["success"] else "new"
    if not count:
        state = "off"
    elif sums["failing"]:
        state = "fails"
    elif sums["paused"] == count:
        state = "paused"
    return ShownDoor(
        gettext_lazy("Slash commands"),
        gettext_lazy("Let users find verified scripts in Slack and Mattermost."),
        reverse("chat-commands"),
        state,
        ngettext("%s command", "%s commands", count) % count if count else "",
        sums["success"],
        failed.last_error_at if failed else None,
        f"{failed.name}: {failed.last_error}" if failed else "",
    )


def _single_sign_on() -> ShownDoor:
    door = the_door()
    return ShownDoor(
        gettext_lazy("Single sign-on"),
        gettext_lazy(
            "Let users sign in with an OpenID Connect provider, with roles from their groups."
        ),
        reverse("single-sign-on"),
        state_of(door),
        settings.SCRIPTSMITH_OIDC_ISSUER or _("SCRIPTSMITH_OIDC_ISSUER is not set"),
        door.last_success_at,
        door.last_error_at,
        door.last_error,
    )


DOORS: tuple[Callable[[], ShownDoor], ...] = (
    _alert_sources,
    _alert_rules,
    _agents,
    _chat_commands,
    _webhooks,
    _channels,
    _mirror,
    _mail,
    _single_sign_on,
)


@require_safe
def show_integrations(request: HttpRequest) -> HttpResponse:
    """Show administrators every integration with its state."""
    require_administrator(signed_in(request))
    return render(request, "integrations/overview.html", {"doors": [door() for door in DOORS]})
