"""Check a script while the user types, without storing it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore, Lock
from typing import NamedTuple

from django.contrib.auth.models import User
from django.utils.translation import gettext as _

from catalog import analysis
from catalog.models import ToolRule
from core.errors import BadInput, Refused

# In characters. ShellCheck takes about a second at its limit. The rules take too long for scripts over their limit.
MOST_FOR_SHELLCHECK = 30_000
MOST_FOR_RULES = 300_000
# Limits the concurrent checks per process, so that they don't delay pages and scores.
MOST_AT_ONCE = 2
_SECONDS_TO_WAIT = 1.0

_places = BoundedSemaphore(MOST_AT_ONCE)
_asking: set[int] = set()
_asking_lock = Lock()


class CheckerBusy(Refused):
    """The checker is busy. The user can try again shortly."""


class Checked(NamedTuple):
    """A report. Long scripts are checked by rules only, without ShellCheck."""

    report: analysis.Report
    is_by_rules_only: bool


def check_script(script: str, *, by: User) -> Checked:
    """Return the findings in a script. Each user can run one check at a time.

    Raises BadInput if the script can't be checked, or CheckerBusy.
    """
    if not script.strip():
        raise BadInput(_("There is no script yet."), field="script")
    if len(script) > MOST_FOR_RULES:
        raise BadInput(
            _(
                "The script is too long to check while you type. It will be checked when you save it."
            ),
            field="script",
        )
    is_by_rules_only = len(script) > MOST_FOR_SHELLCHECK
    with _turn_of(by):
        try:
            check = analysis.analyse_static if is_by_rules_only else analysis.analyse
            report = check(script, ToolRule.objects.in_force())
        except analysis.UnreadableScript as unreadable:
            raise BadInput(str(unreadable), field="script") from unreadable
    return Checked(report, is_by_rules_only)


@contextmanager
def _turn_of(person: User) -> Iterator[None]:
    with _asking_lock:
        if person.pk in _asking:
            raise CheckerBusy(_("Your script is already being checked."))
        _asking.add(person.pk)
    try:
        if not _places.acquire(timeout=_SECONDS_TO_WAIT):
            raise CheckerBusy(_("Other scripts are being checked. Try again in a moment."))
        try:
            yield
        finally:
            _places.release()
    finally:
        with _asking_lock:
            _asking.discard(person.pk)
