"""Rate limits for programs. They apply per account because a user can create any number of tokens."""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.errors import TooManyRequests
from scriptsmith_site.models import AgentCallCount

Kind = AgentCallCount.Kind


class Limit(NamedTuple):
    """The setting with the maximum number of calls, and the time window."""

    setting: str
    window: timedelta


LIMITS = {
    Kind.CALL: Limit("SCRIPTSMITH_AGENT_CALLS_PER_MINUTE", timedelta(minutes=1)),
    Kind.REPORT: Limit("SCRIPTSMITH_AGENT_REPORTS_PER_HOUR", timedelta(hours=1)),
    Kind.REQUEST: Limit("SCRIPTSMITH_AGENT_REQUESTS_PER_DAY", timedelta(days=1)),
}


class TooManyCalls(TooManyRequests):
    """The account has reached its limit.

    `is_first` marks the first refusal in a window, the only one that is logged.
    """

    def __init__(self, message: str, *, seconds: int, is_first: bool) -> None:
        super().__init__(message, seconds=seconds)
        self.is_first = is_first


def spend(user: User, kind: AgentCallCount.Kind) -> None:
    """Count one call. Raises TooManyCalls if the limit is reached."""
    if refusal := _count(user, kind):
        raise refusal


@transaction.atomic
def _count(user: User, kind: AgentCallCount.Kind) -> TooManyCalls | None:
    limit, now = LIMITS[kind], timezone.now()
    most = int(getattr(settings, limit.setting))
    row, _created = AgentCallCount.objects.select_for_update().get_or_create(
        user=user, kind=kind, defaults={"since": now}
    )
    if row.since <= now - limit.window:
        row.since, row.count = now, 0
    if row.count >= most:
        seconds = max(1, round((row.since + limit.window - now).total_seconds()))
        words = _(
            "This account has reached its limit of %(most)d. Try again in %(seconds)d seconds."
        )
        is_first = row.count == most
        if is_first:
            # The count now exceeds the limit by one, which marks the first refusal as logged.
            row.count += 1
            row.save(update_fields=["since", "count"])
        words = words % {"most": most, "seconds": seconds}
        return TooManyCalls(words, seconds=seconds, is_first=is_first)
    row.count += 1
    row.save(update_fields=["since", "count"])
    return None
