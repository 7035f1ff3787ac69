"""Repeat static checks that used an older ShellCheck or older risk rules, and store new findings."""

from __future__ import annotations

from dataclasses import asdict

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog import analysis
from catalog.access import CURATE, require
from catalog.entries.services.creation import raised_risk
from catalog.entries.services.findings import _by_place, ratings
from catalog.models import Recheck, ToolRule, Version
from core.audit import record
from core.errors import NotAllowedNow


def recheck_versions(*, limit: int) -> int:
    """Repeat the checks of up to `limit` versions with outdated findings. Return how many versions were checked.

    New findings are stored separately, because the original findings are part of the verification. If ShellCheck
    can't run, no version is checked.
    """
    tools = ToolRule.objects.in_force()
    now = analysis.checkers(tools)
    if "shellcheck none" in now:
        return 0
    waiting = list(to_recheck(now).select_related("recheck").order_by("-pk")[:limit])
    for version in waiting:
        _recheck(version, now, tools)
    return len(waiting)


def to_recheck(checkers: str = "") -> QuerySet[Version]:
    """Return the draft, submitted and verified versions that the current checkers have not checked."""
    checkers = checkers or analysis.checkers(ToolRule.objects.in_force())
    seen = Recheck.objects.filter(version=OuterRef("pk"), checked_with=checkers)
    return (
        Version.objects.exclude(state=Version.State.DEPRECATED)
        .exclude(checked_with=checkers)
        .exclude(Exists(seen))
    )


def mark_seen(recheck: Recheck, *, by: User) -> None:
    """Mark the recheck as seen by a curator. The recheck is listed again only if the findings change again."""
    require(by, CURATE)
    if not Recheck.objects.filter(pk=recheck.pk, seen_at=None).update(
        seen_at=timezone.now(), seen_by=by, risk_before=""
    ):
        raise NotAllowedNow(_("Another curator has already marked this as seen."))
    record(recheck.version, "newer findings seen", by=by, checked_with=("", recheck.checked_with))


def _recheck(version: Version, checkers: str, tools: analysis.ToolRules) -> None:
    report = analysis.analyse(version.script, tools)
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
    risk = _raised(version, report, former)
    if risk != version.risk:
        # Keep the risk from before the first change that no curator has seen.
        values["risk_before"] = (
            former.risk_before if former and former.risk_before else version.risk
        )
        values["has_changed"] = True
        same = False
    if not same:
        values |= {"seen_at": None, "seen_by": None}
    Recheck.objects.update_or_create(version=version, defaults=values)
    _raise_risk(version, risk)


def _raised(version: Version, report: analysis.Report, former: Recheck | None) -> str:
    """Return the version's risk, raised to its worst finding, and to the report's risk if that has increased.

    If the report's risk has not increased, a lower risk set by a curator remains valid.
    """
    if former:
        last = analysis.Risk(former.risk)
    else:
        last = analysis.risk_level(
            ratings(version.findings), analysis.SideEffect(version.side_effect)
        )
    worst = raised_risk(version.risk, ratings(map(asdict, report.findings)))
    if analysis.higher(last, report.risk) == last:
        return worst
    return analysis.higher(analysis.Risk(worst), report.risk).value


def _raise_risk(version: Version, risk: str) -> None:
    """Store a risk that a newer check raised, so that lists and filters use it."""
    if risk == version.risk:
        return
    Version.objects.filter(pk=version.pk).update(risk=risk)
    record(version, "risk raised by a newer check", by=None, risk=(version.risk, risk))
