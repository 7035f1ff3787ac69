"""The usual duration of a run, based on recent calls to its models."""

from __future__ import annotations

from collections import defaultdict
from statistics import median

from django.utils.translation import ngettext

from pipeline.models import Attempt, Configuration, Run

_NEWEST = 2_000  # attempts that are read
_SLOW = 10  # seconds; a faster run needs no notice
Player = tuple[int, str]  # endpoint and model


class RecentTimes:
    """The total model time of recent runs, read once. Studies are excluded, because times would reveal hidden
    verdicts.
    """

    def __init__(self) -> None:
        newest = Attempt.objects.order_by("-pk").values("pk")[:_NEWEST]
        rows = Attempt.objects.filter(
            pk__in=newest,
            milliseconds__gt=0,
            call__run__state=Run.State.DONE,
            call__run__batch=None,
        ).values_list("call__run", "call__endpoint", "call__model", "milliseconds")
        self._spent: dict[int, int] = defaultdict(int)
        self._players: dict[int, set[Player]] = defaultdict(set)
        for run, endpoint, model, milliseconds in rows:
            self._spent[run] += milliseconds or 0
            self._players[run].add((endpoint, model))

    def say_expected(self, players: set[Player]) -> str:
        """Return the usual time of a run with these models, such as "about 50 seconds", or "" if unknown or short."""
        alike = [self._spent[run] for run, used in self._players.items() if used <= players]
        return say_about(median(alike) / 1_000) if alike else ""


def say_about(seconds: float) -> str:
    """Return a rounded duration as text, or an empty string if it is short."""
    if seconds < _SLOW:
        return ""
    if seconds < 95:
        rounded = round(seconds / 5) * 5
        return ngettext("about %d second", "about %d seconds", rounded) % rounded
    minutes = round(seconds / 60)
    if minutes < 90:
        return ngettext("about %d minute", "about %d minutes", minutes) % minutes
    hours = round(minutes / 60)
    if hours < 36:
        return ngettext("about %d hour", "about %d hours", hours) % hours
    days = round(hours / 24)
    return ngettext("about %d day", "about %d days", days) % days


def players_of(configuration: Configuration) -> set[Player]:
    """Return the models of the configuration's roles."""
    return {(one.endpoint_id, one.model) for one in configuration.roles.all()}
