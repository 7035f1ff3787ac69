"""Apply curators' rules for their team's own tools to the commands of a script."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from functools import lru_cache
from types import MappingProxyType

from catalog.analysis.risk.effects import Effect
from catalog.analysis.shell.arguments import read_arguments
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.program import Program
from catalog.analysis.types import Level


class ToolEffect(StrEnum):
    """A command's effect on the systems that it operates on."""

    READS = "reads"
    CHANGES = "changes"
    DESTROYS = "destroys"
    UNKNOWN = "unknown"


# Effects by the name of a tool, optionally with subcommands: "deployctl" and "deployctl rollback".
ToolRules = Mapping[str, ToolEffect]
NO_RULES: ToolRules = MappingProxyType({})


def name_tool_rules(tools: ToolRules) -> str:
    """Return a short digest of the rules for the version of findings, or an empty string if no rules exist."""
    text = "\n".join(f"{name}={effect}" for name, effect in sorted(tools.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:8] if tools else ""


@lru_cache(maxsize=4)
def _by_first_word(names: tuple[str, ...]) -> Mapping[str, list[str]]:
    index: dict[str, list[str]] = {}
    for name in names:
        index.setdefault(name.split()[0], []).append(name)
    return index


def find_tool_rule(command: Command, tools: ToolRules) -> str | None:
    """Return the name of the longest rule that matches the command.

    The subcommands in a read-only rule must come first, because an operand may have the same name. Subcommands of other
    rules may follow an option and its value.
    """
    if not tools or not command.words or not command.name:
        return None
    literal = command.words[0].literal
    index = _by_first_word(tuple(tools))
    candidates = [name for word in {literal, command.name} for name in index.get(word or "", ())]
    if not candidates:
        return None
    operands = read_arguments(command.arguments).operands
    given = [word.literal for word in operands]
    depth = max(len(name.split()) for name in candidates) - 1
    is_open = None in given[:depth] or (command.takes_more and len(given) < depth)
    for name in sorted(candidates, key=lambda name: -len(name.split())):
        words = name.split()[1:]
        if tools[name] is not ToolEffect.READS:
            places = range(len(given) - len(words) + 1)
            if any(given[at : at + len(words)] == words for at in places):
                return name
        elif (
            given[: len(words)] == words
            and not is_open
            and (command.is_standard or name.split()[0] == literal)
        ):
            return name
    return None


def without_known_files(program: Program, tools: ToolRules) -> Program:
    """Return the program without gaps for files that the program runs and that a rule describes."""
    if not tools:
        return program
    known = {command.span for command in program.commands if find_tool_rule(command, tools)}
    gaps = (gap for gap in program.gaps if gap.code != "unread_file" or gap.span not in known)
    return replace(program, gaps=tuple(gaps))


def find_tool_effects(program: Program, tools: ToolRules) -> Iterator[Effect]:
    """Yield the mutating and destructive effects that the rules define."""
    for command in program.commands if tools else ():
        name = find_tool_rule(command, tools)
        if name is None or command.name in program.functions:
            continue
        if tools[name] is ToolEffect.DESTROYS:
            message = f"Runs {name}, which destroys something according to a curator's rule."
            yield Effect("destructive", Level.WARNING, message, command.span)
        elif tools[name] is ToolEffect.CHANGES:
            message = f"Runs {name}, which changes something according to a curator's rule."
            yield Effect("mutating", Level.INFO, message, command.span)


def only_reads(command: Command, tools: ToolRules) -> bool:
    """Return whether a rule declares the command read-only."""
    name = find_tool_rule(command, tools)
    return name is not None and tools[name] is ToolEffect.READS
