"""How much the programs of one account may ask: by account, since whoever has one token can make another."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import NotAllowedNow
from scriptsmith_site.models import AgentCallCount

Kind = AgentCallCount.Kind


class Limit(NamedTuple):
    """As many as the setting says, within `window`."""

    setting: str
    window: timedelta


LIMITS = {
    Kind.CALL: Limit("SCRIPTSMITH_AGENT_CALLS_PER_MINUTE", timedelta(minutes=1)),
    Kind.REPORT: Limit("SCRIPTSMITH_AGENT_REPORTS_PER_HOUR", timedelta(hours=1)),
    Kind.REQUEST: Limit("SCRIPTSMITH_AGENT_REQUESTS_PER_DAY", timedelta(days=1)),
}


class TooManyCalls(NotAllowedNow):
    """The account's limit is used up; `seconds` says for how long."""

    def __init__(self, message: str, *, seconds: int) -> None:
        super().__init__(message)
        self.seconds = seconds


@transaction.atomic
def spend(user: User, kind: AgentCallCount.Kind) -> None:
    """Count one. Raises TooManyCalls, and has counted nothing then."""
    limit, now = LIMITS[kind], timezone.now()
    most = int(getattr(settings, limit.setting))
    row, _created = AgentCallCount.objects.select_for_update().get_or_create(
        user=user, kind=kind, defaults={"since": now}
    )
    if row.since <= now - limit.window:
        row.since, row.count = now, 0
    if row.count >= most:
        seconds = max(1, round((row.since + limit.window - now).total_seconds()))
        words = _("This account has used up its limit of %(most)d; wait %(seconds)d seconds.")
        raise TooManyCalls(words % {"most": most, "seconds": seconds}, seconds=seconds)
    row.count += 1
    row.save(update_fields=["since", "count"])
