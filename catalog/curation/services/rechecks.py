"""Repeats the checks of scripts that an older ShellCheck or older risk rules have checked, and stores the new
findings.
"""

from __future__ import annotations

from dataclasses import asdict

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog import analysis
from catalog.access import CURATE, require
from catalog.entries.services.findings import (
    _by_place,
)
from catalog.models import Recheck, Version
from core.audit import record
from core.errors import NotAllowedNow


def recheck_versions(*, limit: int) -> int:
    """Repeat the checks of versions whose findings are from older checkers; returns how many.

    Their original findings are part of what was verified and stay; the new ones are stored beside them. Does
    nothing if ShellCheck can't be run.
    """
    now = analysis.checkers()
    if "shellcheck none" in now:
        return 0
    waiting = list(to_recheck(now).select_related("recheck").order_by("-pk")[:limit])
    for version in waiting:
        _recheck(version, now)
    return len(waiting)


def to_recheck(checkers: str = "") -> QuerySet[Version]:
    """Versions in use or in review that the present checkers have not checked."""
    checkers = checkers or analysis.checkers()
    seen = Recheck.objects.filter(version=OuterRef("pk"), checked_with=checkers)
    return (
        Version.objects.exclude(state=Version.State.DEPRECATED)
        .exclude(checked_with=checkers)
        .exclude(Exists(seen))
    )


def mark_seen(recheck: Recheck, *, by: User) -> None:
    """A curator has looked at it; it is listed again only when the findings change again."""
    require(by, CURATE)
    if not Recheck.objects.filter(pk=recheck.pk, seen_at=None).update(
        seen_at=timezone.now(), seen_by=by
    ):
        raise NotAllowedNow(_("Somebody has looked at this already."))
    record(recheck.version, "newer findings seen", by=by, checked_with=("", recheck.checked_with))


def _recheck(version: Version, checkers: str) -> None:
    report = analysis.analyse(version.script)
    findings = [
        asdict(found) for found in report.findings if found.outcome != analysis.Outcome.PASSED
    ]
    former = getattr(version, "recheck", None)
    same = former is not None and _by_place(former.findings).keys() == _by_place(findings).keys()
    values = {
        "checked_with": checkers,
        "at": timezone.now(),
        "findings": findings,
        "risk": report.risk.value,
        "side_effect": report.side_effect.value,
        "has_changed": _by_place(findings).keys() != _by_place(version.findings).keys(),
    }
    if not same:
        values |= {"seen_at": None, "seen_by": None}
    Recheck.objects.update_or_create(version=version, defaults=values)
    _raise_risk(version, report.risk)


def _raise_risk(version: Version, found: analysis.Risk) -> None:
    """Raise a version's risk to its worst finding, including those of newer checkers; lists and filters use it."""
    risk = analysis.higher(analysis.Risk(version.risk), found).value
    if risk == version.risk:
        return
    Version.objects.filter(pk=version.pk).update(risk=risk)
    record(version, "risk raised by a newer check", by=None, risk=(version.risk, risk))
