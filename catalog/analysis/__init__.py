"""Analyze a Bash script statically and return findings, without running it.

The package does not need Django, Celery or a database. Bash and ShellCheck parse the script themselves, and all other
checks use our own syntax tree. The analysis is no guarantee. Code that can't be analyzed is unscored, which is never a
pass.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from catalog.analysis import characters, risk, shellcheck, syntax
from catalog.analysis.characters import (
    HiddenCharacter,
    check_characters,
    find_odd_in_words,
)
from catalog.analysis.characters import find_hidden_characters as _find_hidden_characters
from catalog.analysis.comparison import Placed, new_and_gone
from catalog.analysis.filling import UnfillableScript, before_filling, fill, read_values
from catalog.analysis.parameters import Parameter, ParameterType, find_parameters
from catalog.analysis.risk import (
    RatedFinding,
    Region,
    coverage_of,
    finding_risk,
    higher,
    least_risk,
    not_judged_in,
    reports_unread_lines,
    risk_level,
)
from catalog.analysis.secrets import Masked, Secret, find_secrets, mask_secrets, secret_values
from catalog.analysis.shell.program import Program, read_program
from catalog.analysis.shellcheck import check_shellcheck
from catalog.analysis.side_effect import command_side_effect, find_side_effect
from catalog.analysis.suggestions import Asked, suggest_parameters
from catalog.analysis.syntax import check_syntax
from catalog.analysis.tool_rules import (
    NO_RULES,
    ToolEffect,
    ToolRules,
    find_tool_effects,
    name_tool_rules,
    without_known_files,
)
from catalog.analysis.tools import ToolFailed, tool_version
from catalog.analysis.types import (
    Coverage,
    Finding,
    Level,
    Outcome,
    Report,
    Risk,
    SideEffect,
    UnreadableScript,
    encode_script,
    hash_script,
    is_at_least,
    level_place,
)
from catalog.analysis.unknown_commands import find_unknown_commands
from catalog.analysis.values import dangerous_values

__all__ = [
    "Asked",
    "Coverage",
    "Finding",
    "HiddenCharacter",
    "Level",
    "Masked",
    "Outcome",
    "Parameter",
    "ParameterType",
    "Placed",
    "Region",
    "Report",
    "Risk",
    "Secret",
    "RatedFinding",
    "SideEffect",
    "ToolEffect",
    "ToolRules",
    "UnfillableScript",
    "UnreadableScript",
    "analyse",
    "analyse_static",
    "before_filling",
    "check_shellcheck",
    "check_syntax",
    "checkers",
    "coverage_of",
    "dangerous_values",
    "fill",
    "find_hidden_characters",
    "find_odd_in_words",
    "find_parameters",
    "find_secrets",
    "finding_risk",
    "has_errors",
    "hash_script",
    "name_tool_rules",
    "new_and_gone",
    "higher",
    "is_at_least",
    "least_risk",
    "mask_secrets",
    "secret_values",
    "read_values",
    "reports_unread_lines",
    "not_judged_in",
    "risk_level",
    "level_place",
    "side_effect",
    "suggest_parameters",
]

# Bash and ShellCheck get less time for a large script that our own parser could not read completely.
_LARGE = 50_000  # bytes
_SHORT_TIMEOUT = 1.0  # seconds


def analyse(script: str, tools: ToolRules = NO_RULES) -> Report:
    """Return the report of all checks, in about 0.1 s. Bash and ShellCheck run in parallel with our own checks.

    `tools` describes the effects of a team's own tools.

    Raises UnreadableScript for text with a NUL byte, invalid Unicode or more than 1 MB.
    """
    encoded = encode_script(script)
    program = read_program(encoded)
    is_hostile = len(encoded) > _LARGE and bool(program.unread_lines)
    limit = {"timeout": _SHORT_TIMEOUT} if is_hostile else {}
    with ThreadPoolExecutor(max_workers=2) as pool:
        by_bash = pool.submit(check_syntax, script, **limit)
        by_shellcheck = pool.submit(check_shellcheck, script, **limit)
        ours, effect = _check_by_rules(script, program, tools)
        asked = [*by_bash.result(), *by_shellcheck.result()]
    return _report(program, script, [*asked, *ours], effect, syntax_ok=_is_syntax_ok(asked))


def analyse_static(script: str, tools: ToolRules = NO_RULES) -> Report:
    """Return the report of the checks that need no other program: risks, side effect and characters. This takes
    milliseconds.

    The report's `syntax_ok` is None, because Bash is not run. Raises UnreadableScript.
    """
    program = read_program(encode_script(script))
    findings, effect = _check_by_rules(script, program, tools)
    return _report(program, script, findings, effect, syntax_ok=None)


def checkers(tools: ToolRules = NO_RULES) -> str:
    """Return the versions of ShellCheck and of our rules as a short text. Findings are valid only for these
    versions.
    """
    program = shellcheck.find_shellcheck()
    try:
        version = tool_version(program) if program else "none"
    except ToolFailed:
        version = "none"
    rules = _risk_version(tools)
    return f"shellcheck {version}, risk rules {rules}, characters {characters.VERSION}"


def side_effect(script: str, tools: ToolRules = NO_RULES) -> SideEffect:
    """Return the side effect of the script: read-only, mutating or unknown."""
    return analyse_static(script, tools).side_effect


def find_hidden_characters(script: str) -> tuple[HiddenCharacter, ...]:
    """Return the script's hidden and look-alike characters, so that pages can mark them."""
    if characters.is_plain(script):
        return ()
    return _find_hidden_characters(script, read_program(encode_script(script)))


def has_errors(report: Report) -> bool:
    """Return whether Bash rejects the script or ShellCheck reports an error."""
    return report.syntax_ok is False or any(
        found.check == shellcheck.CHECK
        and found.outcome is Outcome.FAILED
        and is_at_least(found.level, Level.ERROR)
        for found in report.findings
    )


def _check_by_rules(
    script: str, program: Program, tools: ToolRules
) -> tuple[list[Finding], SideEffect]:
    """Return the findings of our own rules (risks, hidden characters, unknown commands) and the side effect."""
    program = without_known_files(program, tools)
    effects = [*risk.find_effects(program), *find_tool_effects(program, tools)]
    judged = [
        (command, command_side_effect(command, program, tools)) for command in program.commands
    ]
    unknown = find_unknown_commands(judged, program, effects, tools)
    version = _risk_version(tools)
    risks = [
        replace(found, version=version)
        for found in risk.report_effects(effects, program, unknown=unknown)
    ]
    side_effect = find_side_effect(program, effects, {effect for _, effect in judged})
    return [*risks, *check_characters(script, program)], side_effect


def _risk_version(tools: ToolRules) -> str:
    """Return the version of the risk rules. The version changes with the curators' rules for tools."""
    return f"{risk.VERSION}+{name_tool_rules(tools)}" if tools else risk.VERSION


def _report(
    program: Program,
    script: str,
    findings: list[Finding],
    effect: SideEffect,
    *,
    syntax_ok: bool | None,
) -> Report:
    """Return the report of all findings. The risk is computed only here."""
    lines = len(program.unit.source.removesuffix(b"\n").split(b"\n"))
    return Report(
        sha256=hash_script(script),
        findings=tuple(findings),
        syntax_ok=syntax_ok,
        side_effect=effect,
        risk=risk_level(
            (
                RatedFinding(found.check, found.outcome, found.level, found.code)
                for found in findings
            ),
            effect,
        ),
        coverage=Coverage(lines - len(program.unread_lines), lines),
    )


def _is_syntax_ok(findings: list[Finding]) -> bool | None:
    asked = [found for found in findings if found.check == syntax.CHECK]
    if any(found.outcome is Outcome.UNSCORED for found in asked):
        return None
    return not any(is_at_least(found.level, Level.ERROR) for found in asked)
