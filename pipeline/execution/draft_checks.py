"""The static findings on a Draft, bound to the script's hash and each check's version.

A finding is current while both match. Findings of older checks are kept and shown as outdated. Checking the Draft again
adds rows and keeps the old rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from catalog.analysis import (
    Coverage,
    Outcome,
    RatedFinding,
    Report,
    Risk,
    SideEffect,
    ToolEffect,
    UnreadableScript,
    analyse,
    analyse_static,
    least_risk,
    name_tool_rules,
    risk_level,
)
from catalog.models import ToolRule, Version
from core.audit import record
from core.errors import NotAllowedNow
from pipeline.flow import prompts
from pipeline.models import Assessment, Configuration, Draft, DraftFinding

# Values for checks without a version, which can't be compared.
_NO_VERSION = {"none", "unknown"}


def keep_findings(draft: Draft, report: Report, *, only: Collection[str] | None = None) -> None:
    """Store the findings of the report, or only the findings of the checks in `only`."""
    DraftFinding.objects.bulk_create(findings_of(draft, report, only=only))


def findings_of(
    draft: Draft, report: Report, *, only: Collection[str] | None = None
) -> list[DraftFinding]:
    """Return an unsaved row for each finding, including passes, which record the version that passed."""
    return [
        DraftFinding(
            draft=draft,
            script_sha256=report.sha256,
            check_name=found.check,
            check_version=found.version,
            outcome=found.outcome.value,
            level=found.level.value,
            code=found.code,
            message=found.message,
            line=found.line,
            column=found.column,
            end_line=found.end_line,
            end_column=found.end_column,
        )
        for found in report.findings
        if only is None or found.check in only
    ]


@transaction.atomic
def recheck_draft(draft: Draft, *, by: User) -> None:
    """Repeat the static checks that have changed or never ran, without model calls.

    Raises NotAllowedNow if no check has changed, or if the script's text was erased.
    """
    report = analyse(draft.script, ToolRule.objects.in_force())
    locked = Draft.objects.select_for_update().get(pk=draft.pk)
    if report.sha256 != locked.sha256:
        raise NotAllowedNow(_("The text of this script was erased, so it can't be checked."))
    missing = missing_checks(locked, locked.findings.all())
    if not missing:
        raise NotAllowedNow(_("The current checks have already run on this script."))
    keep_findings(locked, report, only=missing)
    record(locked, "checked again", by=by, checks=("", ", ".join(sorted(missing))))


def present_checks() -> Mapping[str, str]:
    """Return the current version of each check in this process."""
    return _present_checks(tuple(sorted(ToolRule.objects.in_force().items())))


@lru_cache(maxsize=1)
def _present_checks(tools: tuple[tuple[str, ToolEffect], ...]) -> Mapping[str, str]:
    return analyse("true\n", dict(tools)).versions


def is_current(found: DraftFinding, draft: Draft) -> bool:
    """Return whether a finding matches the Draft's text and the current version of its check."""
    if found.script_sha256 != draft.sha256:
        return False
    present = present_checks().get(found.check_name)
    return present in _NO_VERSION or found.check_version == present


def missing_checks(draft: Draft, findings: Iterable[DraftFinding]) -> set[str]:
    """Return the checks whose current versions have no finding on the Draft, given all its findings.

    Return an empty set if the Draft's text was erased, because no check can run.
    """
    if Version.hash_of(draft.script) != draft.sha256:
        return set()
    made = {found.check_name for found in findings if is_current(found, draft)}
    return {
        name
        for name, version in present_checks().items()
        if name not in made and version not in _NO_VERSION
    }


def prompts_in_use(configuration: Configuration) -> dict[str, str]:
    """Return the current version of each prompt for runs of this configuration."""
    return prompts.versions() | dict(configuration.prompts)


def is_current_assessment(assessment: Assessment, draft: Draft, in_use: Mapping[str, str]) -> bool:
    """Return whether a verdict matches the Draft's text and the current prompts.

    An imported verdict names no ScriptSmith prompts, so it is never outdated.
    """
    return assessment.script_sha256 == draft.sha256 and all(
        in_use.get(name, version) == version for name, version in assessment.prompt_versions.items()
    )


def coverage_of_draft(draft: Draft) -> Coverage | None:
    """Return how many lines of the Draft the parser can read, or None if the text was erased or is too long."""
    if Version.hash_of(draft.script) != draft.sha256:
        return None
    return _read_script(draft).coverage


def is_serious(findings: Iterable[DraftFinding]) -> bool:
    """Return whether a script with these findings is high risk. Approving such a script requires a reason."""
    return least_risk(map(_seen, findings)) is Risk.HIGH


def risk_of(draft: Draft, findings: Iterable[DraftFinding]) -> Risk | None:
    """Return the risk of a Draft according to the catalogue's rule, or None if its text was erased."""
    if Version.hash_of(draft.script) != draft.sha256:
        return None
    return risk_level(map(_seen, findings), _read_script(draft).side_effect)


def _seen(found: DraftFinding) -> RatedFinding:
    return RatedFinding(found.check_name, found.outcome, found.level, found.code)


# Longer scripts are not parsed during a page request. Their side effects are unknown.
MOST_FOR_RULES = 300_000


class _ReadScript(NamedTuple):
    side_effect: SideEffect
    coverage: Coverage | None


# Cached by hash, without the texts. The cache has room for more scripts than the queue ranks by risk.
_READ_SCRIPTS: dict[str, _ReadScript] = {}
_MOST_KEPT = 1_024


def _read_script(draft: Draft) -> _ReadScript:
    """Return the parser's findings for the Draft's text under the current rules."""
    unknown = _ReadScript(SideEffect.UNKNOWN, None)
    if len(draft.script) > MOST_FOR_RULES:
        return unknown
    tools = ToolRule.objects.in_force()
    key = f"{draft.sha256} {name_tool_rules(tools)}"
    found = _READ_SCRIPTS.get(key)
    if found is None:
        try:
            report = analyse_static(draft.script, tools)
        except UnreadableScript:
            found = unknown
        else:
            found = _ReadScript(report.side_effect, report.coverage)
        _READ_SCRIPTS[key] = found
        for oldest in list(_READ_SCRIPTS)[:-_MOST_KEPT]:
            _READ_SCRIPTS.pop(oldest, None)
    return found


def shown_findings(findings: Iterable[DraftFinding]) -> list[DraftFinding]:
    """Return the findings other than passes."""
    return [found for found in findings if found.outcome != Outcome.PASSED]
