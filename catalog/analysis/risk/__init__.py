"""Report the effects of a script that users should know about before they run it.

The findings are no guarantee. A script without findings merely has no recognized risk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from catalog.analysis import characters
from catalog.analysis.risk.databases import find_database_effects
from catalog.analysis.risk.deletion import find_deletions
from catalog.analysis.risk.disclosure import find_disclosures
from catalog.analysis.risk.effects import Effect, Rule
from catalog.analysis.risk.intrusion import find_intrusions, find_piped_shells
from catalog.analysis.risk.loops import find_endless
from catalog.analysis.risk.network import find_network_use
from catalog.analysis.risk.privileges import find_privileges, find_root_variables
from catalog.analysis.risk.remote_code import find_remote_code
from catalog.analysis.risk.secrets import find_script_secrets
from catalog.analysis.risk.subcommands import find_subcommand_effects
from catalog.analysis.shell.commands import UNREAD_CODES, Gap
from catalog.analysis.shell.program import Program
from catalog.analysis.shell.wrappers import THROWAWAY
from catalog.analysis.types import Coverage, Finding, Level, Outcome, Risk, SideEffect, is_at_least

CHECK = "risk"
VERSION = "5"
_REPORTS_UNREAD_LINES = 5  # the first version that reports every unread line
MAXIMUM_FINDINGS = 200

_COMMAND_RULES: tuple[Rule, ...] = (
    find_deletions,
    find_subcommand_effects,
    find_database_effects,
    find_privileges,
    find_network_use,
    find_intrusions,
)
_PROGRAM_RULES = (
    *(find_remote_code, find_endless, find_script_secrets),
    *(find_disclosures, find_piped_shells, find_root_variables),
)
# Unread code may have any effect.
_UNJUDGED_CODES = frozenset({"unparsed", "too_complex"})
_EXPLAINED = frozenset({"dynamic_code", "unread_file"})
_HIGH_CODES = _UNJUDGED_CODES | {
    *("destructive", "remote_code", "unseen_code", "unsafe_variable", "secrets")
}


def find_effects(program: Program) -> Iterator[Effect]:
    """Yield every known risk in the script."""
    for command in program.commands:
        for rule in _COMMAND_RULES:
            is_lost = rule is find_deletions and THROWAWAY in command.context.via
            for effect in rule(command, program):
                yield replace(effect, level=Level.INFO) if is_lost else effect
    for program_rule in _PROGRAM_RULES:
        yield from program_rule(program)


def report_effects(
    effects: Iterable[Effect], program: Program, *, unknown: Iterable[Finding] = ()
) -> list[Finding]:
    """Return the risks as findings, sorted by line. Code that could not be analyzed is unscored."""
    findings: dict[tuple[str, str, int | None, int | None], Finding] = {}
    for effect in effects:
        finding = _finding(effect)
        findings.setdefault((finding.code, finding.message, finding.line, finding.column), finding)
        if len(findings) == MAXIMUM_FINDINGS:
            break
    found = sorted(findings.values(), key=lambda finding: (finding.line or 0, finding.column or 0))
    # The finding gives the reason, so a gap on the same line would only repeat it.
    explained = {f.line for f in found if f.code in ("remote_code", "unseen_code")}
    gaps = _gaps(program)
    found += [gap for gap in gaps if gap.code not in _EXPLAINED or gap.line not in explained]
    found += unknown
    return found or [_nothing_found()]


class RatedFinding(NamedTuple):
    """The parts of a finding that the risk depends on, independent of how the finding is stored."""

    check: str
    outcome: str
    level: str
    code: str


def risk_level(findings: Iterable[RatedFinding], side_effect: SideEffect) -> Risk:
    """Return the highest risk of the findings. The risk is low only if the script is known to be read-only."""
    unknown = Risk.LOW if side_effect is SideEffect.READ_ONLY else Risk.MEDIUM
    return higher(least_risk(findings), unknown)


def least_risk(findings: Iterable[RatedFinding]) -> Risk:
    """Return the lower bound that these findings set for the risk of a script. Manual ratings can't be lower."""
    return max(map(finding_risk, findings), key=list(Risk).index, default=Risk.LOW)


def finding_risk(found: RatedFinding) -> Risk:
    """Return the risk that one finding causes. Low means that the finding does not raise the risk.

    The risk is high for an error of any check and for possible loss of data or control. The risk is medium for other
    warnings about risks or characters. ShellCheck's warnings are often about style and don't raise the risk.
    """
    if found.outcome != Outcome.FAILED or not is_at_least(found.level, Level.WARNING):
        return Risk.LOW
    is_ours = found.check in (CHECK, characters.CHECK)
    if is_at_least(found.level, Level.ERROR) or is_ours and found.code in _HIGH_CODES:
        return Risk.HIGH
    return Risk.MEDIUM if is_ours else Risk.LOW


def higher(one: Risk, other: Risk) -> Risk:
    """Return the greater of two risks."""
    return max(one, other, key=list(Risk).index)


new_finding = partial(Finding, check=CHECK, version=VERSION)


def _finding(effect: Effect) -> Finding:
    return new_finding(
        outcome=Outcome.FAILED,
        level=effect.level,
        code=effect.code,
        message=effect.message,
        **effect.span.place._asdict(),
    )


def _gaps(program: Program) -> list[Finding]:
    # Sourced files are reported elsewhere, with the names that they may define.
    gaps = [gap for gap in program.gaps if gap.code != "sourced_file"]
    gaps.sort(key=lambda gap: gap.code not in _UNJUDGED_CODES | UNREAD_CODES)
    return [_gap(gap) for gap in gaps[:MAXIMUM_FINDINGS]]


def _gap(gap: Gap) -> Finding:
    is_unread = gap.code in _UNJUDGED_CODES
    return new_finding(
        # Spliced values and unread text are known risks. The effects of other gaps are unknown.
        outcome=Outcome.FAILED if is_unread or gap.code == "spliced_value" else Outcome.UNSCORED,
        level=Level.WARNING if is_unread else Level.INFO,
        code=gap.code,
        message=gap.message,
        line=gap.span.line,
        end_line=gap.last_line if gap.last_line > gap.span.line else None,
    )


def _nothing_found() -> Finding:
    return new_finding(
        outcome=Outcome.PASSED,
        level=Level.INFO,
        code="nothing-found",
        message="No known risks detected. This is not a guarantee.",
    )


class Region(NamedTuple):
    """The parts of a finding that identify unread lines, independent of how the finding is stored."""

    code: str
    line: int | None
    end_line: int | None


def coverage_of(script: str, findings: Iterable[Region]) -> Coverage:
    """Return the number of lines of a script, and the number of lines that no finding reports as unread."""
    lines = len(script.removesuffix("\n").split("\n"))
    unread = {
        line
        for found in findings
        if found.code in UNREAD_CODES and found.line is not None
        for line in range(found.line, (found.end_line or found.line) + 1)
    }
    return Coverage(lines - len(unread), lines)


def not_judged_in(findings: Iterable[object]) -> list[str]:
    """Return the distinct messages of the unscored findings, in order. Findings can be rows or stored mappings."""
    messages: dict[str, None] = {}
    for found in findings:
        read = found.get if isinstance(found, Mapping) else partial(getattr, found)
        if read("outcome", "") == Outcome.UNSCORED:
            messages[str(read("message", ""))] = None
    return list(messages)


def reports_unread_lines(checkers: str) -> bool:
    """Return whether these checkers, as named by `checkers()`, report every line that they could not read."""
    found = re.search(r"risk rules (\d+)", checkers)
    return found is not None and int(found[1]) >= _REPORTS_UNREAD_LINES
