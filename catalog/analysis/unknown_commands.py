"""Report commands without a rule as unscored findings, one per name with all its lines."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from catalog.analysis.read_only.special import SPECIAL
from catalog.analysis.read_only.usage import (
    ANY_USE,
    LISTED_OPTIONS,
    MUTATING,
    SHELL_ONLY,
    SUBCOMMANDS,
    TRANSPARENT,
)
from catalog.analysis.risk import new_finding
from catalog.analysis.risk.effects import Effect
from catalog.analysis.risk.subcommands import ALIASES, RULES, read_tool_arguments
from catalog.analysis.shell.command_words import show_text
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.fragments import Span, Unit
from catalog.analysis.shell.program import Program
from catalog.analysis.tables import word_set
from catalog.analysis.tool_rules import ToolEffect, ToolRules, find_tool_rule
from catalog.analysis.types import Finding, Level, Outcome, SideEffect

CODE = "unknown_command"
SOURCED = "sourced_file"
MAXIMUM_NAMES = 50
MAXIMUM_LINES = 5  # in one message

# Builtins whose effect depends on their options, but is limited to the shell's own process and history. A file read
# by `source` has its own finding.
_BUILTINS = word_set(
    """
    bind caller compgen complete compopt disown enable fc hash help history logout mapfile popd readarray suspend
    source .
    """
)
# Effects that fully describe a command. Network use and printed secrets don't.
_JUDGED = word_set(
    """
    destructive mutating privileged remote_code unseen_code unsafe_variable back_door hidden_traces outage
    """
)
_WITH_SUBCOMMANDS = frozenset({*SUBCOMMANDS, *RULES, *ALIASES})
_KNOWN_TOOLS = _WITH_SUBCOMMANDS | {
    *(*ANY_USE, *SHELL_ONLY, *SPECIAL, *LISTED_OPTIONS, *MUTATING, *TRANSPARENT)
}
_SUBCOMMAND = re.compile(r"[a-z][a-z-]{1,30}")
_FUNCTION_NAME = re.compile(r"[A-Za-z_][\w.:]*")
# Files that assign variables and define no functions.
_VARIABLE_FILES = re.compile(
    r"(.*/)?(os-release|lsb-release|\.?env|[\w.-]+\.env)|/etc/(default|sysconfig)/.*"
)


def find_unknown_commands(
    judged: Iterable[tuple[Command, SideEffect]],
    program: Program,
    effects: Sequence[Effect],
    tools: ToolRules,
) -> list[Finding]:
    """Return a finding for each name without a rule, and a finding for each sourced file with the names that it may
    define.

    Commands with a known effect or with a gap of their own are not listed.
    """
    reported = _starts(effect.span for effect in effects if effect.code in _JUDGED)
    connects = _starts(effect.span for effect in effects if effect.code == "network")
    gaps = _starts(gap.span for gap in program.gaps if gap.code != SOURCED)
    seen: set[tuple[Unit, int]] = set()
    lines: dict[str, list[int]] = {}
    files = {gap.message: gap.span for gap in program.gaps if gap.code == SOURCED}
    for command, side_effect in judged:
        span = command.span
        if (
            side_effect is not SideEffect.UNKNOWN
            or not command.name
            or command.name in _BUILTINS
            or (span.unit, span.start) in seen
            or _has_inside(gaps, span)
            or _has_own(reported, command)
        ):
            continue
        if command.name in _WITH_SUBCOMMANDS or not _has_own(connects, command):
            seen.add((span.unit, span.start))
            lines.setdefault(_name(command, tools), []).append(span.line)
    has_functions = any(map(_may_define_functions, files.values()))
    sourced = [name for name in lines if has_functions and _FUNCTION_NAME.fullmatch(name)]
    for name in sourced:
        del lines[name]
    return [*_report_files(files, sourced), *_report_names(lines, tools)]


def _starts(spans: Iterable[Span]) -> dict[Unit, list[int]]:
    """Return the start offsets of the spans in order, by unit."""
    starts: dict[Unit, list[int]] = {}
    for span in sorted(spans, key=lambda span: span.start):
        starts.setdefault(span.unit, []).append(span.start)
    return starts


def _has_inside(starts: Mapping[Unit, list[int]], span: Span) -> bool:
    found = starts.get(span.unit, [])
    place = bisect_left(found, span.start)
    return place < len(found) and found[place] < span.end


def _has_own(starts: Mapping[Unit, list[int]], command: Command) -> bool:
    """Return whether one of the start offsets is in the command or its words, except in substitutions."""
    fed = (redirect.word for redirect in command.redirects if redirect.kind == "text")
    words = (word.span for word in (*command.words, *fed) if not word.outputs)
    first = Span(command.span.unit, command.span.start, command.span.start + 1)
    return any(_has_inside(starts, span) for span in (first, *words))


def _name(command: Command, tools: ToolRules) -> str:
    """Return the name under which to list the command, with its subcommand if other uses of the tool are known."""
    if rule := find_tool_rule(command, tools):
        return rule
    literal = command.words[0].literal or ""
    if not command.is_standard or command.name not in _KNOWN_TOOLS:
        return show_text(literal)
    first = next(iter(read_tool_arguments(command).subcommands), "")
    is_named = command.name in _WITH_SUBCOMMANDS and _SUBCOMMAND.fullmatch(first)
    return f"this use of {command.name} {first}" if is_named else f"this use of {command.name}"


def _may_define_functions(source: Span) -> bool:
    return not any(_VARIABLE_FILES.fullmatch(word.strip("\"'")) for word in source.text.split())


def _report_files(files: Mapping[str, Span], names: list[str]) -> Iterator[Finding]:
    """Yield one finding per file. The first finding lists the names, because any of the files may define them."""
    for message, source in islice(files.items(), MAXIMUM_NAMES):
        if names and _may_define_functions(source):
            subject = "It" if len(files) == 1 else "It or another sourced file"
            message += f" {subject} may define: {_list(names)}."
            names = []
        yield _finding(SOURCED, message, source.line)


def _report_names(lines: Mapping[str, list[int]], tools: ToolRules) -> Iterator[Finding]:
    for name, found in islice(lines.items(), MAXIMUM_NAMES):
        places = sorted(set(found))
        where = (
            f"line {places[0]}"
            if len(places) == 1
            else f"lines {_list(places, MAXIMUM_LINES, last=' and ')}"
        )
        uses = where if len(found) == 1 else f"{len(found)} uses, {where}"
        if tools.get(name) is ToolEffect.UNKNOWN:
            message = f"According to a curator's rule, the effect of {name} is unknown ({uses})."
        else:
            message = f"No rule knows {name} ({uses})."
        yield _finding(CODE, f"{message} Check what it does.", places[0])
    if len(lines) > MAXIMUM_NAMES:
        rest = list(lines)[MAXIMUM_NAMES:]
        message = f"No rule knows {len(rest)} more commands: {_list(rest)}."
        yield _finding(CODE, f"{message} Check what they do.", lines[rest[0]][0])


def _list(items: Sequence[object], most: int = 20, *, last: str = ", ") -> str:
    shown = [str(item) for item in items[:most]]
    if len(items) > most:
        return f"{', '.join(shown)} and {len(items) - most} more"
    return last.join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _finding(code: str, message: str, line: int) -> Finding:
    outcome, level = Outcome.UNSCORED, Level.INFO
    return new_finding(outcome=outcome, level=level, code=code, message=message, line=line)
