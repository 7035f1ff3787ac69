"""Describe why a run or check is waiting for an endpoint: the server's state, and the runs that are using it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _

from pipeline.access import shown_verdicts
from pipeline.models import Attempt, Endpoint, Run

# Outcomes that do not prove that the server is running.
_NO_ANSWER = (Attempt.Outcome.UNREACHABLE, Attempt.Outcome.TIMEOUT)


@dataclass(frozen=True)
class Holder:
    """A run that is using an endpoint. A study hides the number and time of its runs."""

    run: int | None
    since: datetime | None

    @property
    def words(self) -> str:
        if self.run is None or self.since is None:
            return _("Another run is using the endpoint.")
        return _("Run %(run)s has been using the endpoint since %(time)s.") % {
            "run": self.run,
            "time": _clock(self.since),
        }


def holders_of(endpoint: Endpoint, user: User) -> list[Holder]:
    """List the runs that are using the endpoint, longest first."""
    held = Attempt.objects.filter(
        endpoint=endpoint,
        place__isnull=False,
        ended_at=None,
        call__run__lease_until__gt=Now(),
    ).order_by("started_at")
    since: dict[int, datetime] = {}
    for run, started in held.values_list("call__run", "started_at"):
        since.setdefault(run, started)
    runs = Run.objects.filter(pk__in=list(since))
    # The duration of a study run would reveal its verdict.
    named = {*runs.filter(batch=None).values_list("pk", flat=True)}
    if len(named) < len(since):
        named |= {*shown_verdicts(user, runs).values_list("pk", flat=True)}
    return [
        Holder(run, started) if run in named else Holder(None, None)
        for run, started in since.items()
    ]


def say_server(endpoint: Endpoint) -> str:
    """Describe whether the server answered its last call. Return an empty string if it was never called."""
    if endpoint.blocked_until and endpoint.blocked_until > timezone.now():
        return _("Calls to the server are paused until %(time)s. %(why)s") % {
            "time": _clock(endpoint.blocked_until),
            "why": endpoint.blocked_why,
        }
    ended = Attempt.objects.filter(endpoint=endpoint, ended_at__isnull=False)
    last = ended.defer("raw").order_by("-pk").first()
    if last is None or last.ended_at is None:
        return ""
    if last.outcome in _NO_ANSWER:
        return _("The last call failed at %(time)s. %(why)s") % {
            "time": _clock(last.ended_at),
            "why": last.message,
        }
    return _("The last reply was at %s.") % _clock(last.ended_at)


def _clock(moment: datetime) -> str:
    return timezone.localtime(moment).strftime("%H:%M:%S")
