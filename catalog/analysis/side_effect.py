"""Determine whether a script is read-only. Commands that are not known to be read-only have an unknown effect."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from fnmatch import fnmatchcase

from catalog.analysis.read_only.special import SPECIAL
from catalog.analysis.read_only.usage import (
    ANY_USE,
    FORMAT_OPTIONS,
    LISTED_OPTIONS,
    MUTATING,
    SHELL_ONLY,
    SUBCOMMANDS,
    TRANSPARENT,
    UNSAFE_OPTIONS,
    Options,
)
from catalog.analysis.risk.aws import is_aws_read
from catalog.analysis.risk.effects import Effect, is_harmless_target
from catalog.analysis.risk.subcommands import ALIASES, read_tool_arguments
from catalog.analysis.shell.arguments import read_arguments
from catalog.analysis.shell.command_words import Word
from catalog.analysis.shell.commands import STANDARD_FOLDERS, Assignment, Command, Redirect
from catalog.analysis.shell.program import Program
from catalog.analysis.shell.wrappers import read_ssh
from catalog.analysis.tables import PATTERNS, word_set
from catalog.analysis.tool_rules import NO_RULES, ToolRules, only_reads
from catalog.analysis.types import Level, SideEffect

_STEERING = PATTERNS["steering-variable"]

_CHANGING = frozenset({"destructive", "mutating", "back_door", "hidden_traces", "outage"})
# Printing or sending a secret changes no data but is not harmless.
_NEVER_READ_ONLY = frozenset({"reads_secrets", "exfiltration"})
_SETTERS = word_set("read mapfile readarray getopts printf export declare typeset local readonly")


def find_side_effect(
    program: Program, effects: Iterable[Effect], found: Collection[SideEffect]
) -> SideEffect:
    """Return MUTATING if a change is known, READ_ONLY if every command is read-only, or else UNKNOWN.

    `found` contains the side effects of the program's commands.
    """
    effects = list(effects)
    codes = {effect.code for effect in effects}
    grants = any(e.code == "privileged" and e.level is Level.WARNING for e in effects)
    if codes & _CHANGING or grants:
        return SideEffect.MUTATING
    if any(_writes(redirect) for redirect in program.redirects):
        return SideEffect.MUTATING
    if SideEffect.MUTATING in found:
        return SideEffect.MUTATING
    if (
        codes & _NEVER_READ_ONLY
        or program.gaps
        or any(_is_steering(assignment) for assignment in program.assignments)
    ):
        return SideEffect.UNKNOWN
    return SideEffect.UNKNOWN if SideEffect.UNKNOWN in found else SideEffect.READ_ONLY


def command_side_effect(
    command: Command, program: Program, tools: ToolRules = NO_RULES
) -> SideEffect:
    """Return the side effect of one command by itself. Commands that it starts are analyzed separately.

    A curator's rule can declare a command read-only, but only if no built-in rule covers it.
    """
    effect = _built_in_side_effect(command, program)
    if effect is SideEffect.UNKNOWN and tools and not any(map(_is_steering, command.assignments)):
        return SideEffect.READ_ONLY if only_reads(command, tools) else effect
    return effect


def _built_in_side_effect(command: Command, program: Program) -> SideEffect:
    name = command.name
    if name in program.functions:  # commands in its body are analyzed separately
        return SideEffect.READ_ONLY
    if command.is_opened and name in TRANSPARENT and not _steers(command):
        return SideEffect.READ_ONLY
    if not command.is_standard or any(_is_steering(a) for a in command.assignments):
        return SideEffect.MUTATING if name in MUTATING else SideEffect.UNKNOWN
    if name in _SETTERS and any(_sets_steering(word) for word in command.arguments):
        return SideEffect.UNKNOWN
    if name in ANY_USE or name in SHELL_ONLY or _asks_version(command):
        return SideEffect.READ_ONLY
    if name in SPECIAL and (special := SPECIAL[name](command)):
        is_read = special is SideEffect.READ_ONLY and _brings_options(command)
        return SideEffect.UNKNOWN if is_read else special
    if name in LISTED_OPTIONS and _has_listed_options(command, LISTED_OPTIONS[name]):
        return SideEffect.READ_ONLY
    if _has_listed_subcommand(command):
        return SideEffect.READ_ONLY
    return SideEffect.MUTATING if name in MUTATING else SideEffect.UNKNOWN


def _brings_options(command: Command) -> bool:
    """Return whether operands that are added at run time may be options. Operands added by find never are."""
    return command.takes_more and command.context.via[-1:] != ("find",)


def _asks_version(command: Command) -> bool:
    """Return whether a known tool only shows its version or help, as in `kubectl --version`."""
    only = command.arguments[0].literal if len(command.arguments) == 1 else ""
    is_known = command.name in SUBCOMMANDS or command.name in LISTED_OPTIONS
    is_known = is_known or command.name in SPECIAL or command.name in MUTATING
    return is_known and only in ("--version", "--help") and not command.takes_more


def _writes(redirect: Redirect) -> bool:
    path = redirect.word.literal
    return redirect.kind in ("write", "append") and not (path and is_harmless_target(path))


def _steers(command: Command) -> bool:
    """Return whether an argument changes which code runs, as in `env LD_PRELOAD=... command` or `time -o file`."""
    if command.name == "ssh":
        own = read_ssh(command)
        host = own.operands[0] if own.operands else command.words[0]
        if host.has_unquoted_expansion or (host.takes_input and not host.prefix):
            return True  # the word may be an option
        values = [
            (word.literal or "command").lower()
            for name, word in own.options
            if word and name == "o"
        ]
        return own.has("F", "S", "E") or any("command" in value for value in values)
    if command.name == "time":
        return any(word.prefix.startswith(("-o", "--output", "-a")) for word in command.arguments)
    return any(
        _STEERING.fullmatch(word.prefix.partition("=")[0]) and "=" in word.prefix
        for word in command.arguments
    )


def _sets_steering(word: Word) -> bool:
    """Return whether the word sets a steering variable in a form that the syntax tree does not show."""
    name, equals, _ = re.sub(r"[\"'\\$]", "", word.prefix).partition("=")
    is_plain = bool(equals) and word.span.text.startswith(name)  # the tree shows an assignment
    return bool(_STEERING.fullmatch(name.rstrip("+"))) and not is_plain


def _is_steering(assignment: Assignment) -> bool:
    if not _STEERING.fullmatch(assignment.name):
        return False
    value = assignment.value.span.text.strip("\"'") if assignment.value else ""
    folders = set(value.split(":")) - {"$PATH", "${PATH}"}
    return not (assignment.name == "PATH" and value and folders <= STANDARD_FOLDERS - {""})


def _has_listed_options(command: Command, options: Options) -> bool:
    short = "".join(name for name in options.values if len(name) == 1)
    arguments = read_arguments(command.arguments, short=short, long=options.values)
    if options.needs and not arguments.has(*options.needs):
        return False
    certain = arguments.is_certain and not _brings_options(command)
    return (
        certain
        and arguments.names <= options.names
        and len(arguments.operands) <= options.operands
        and all(fnmatchcase(word.prefix, options.form) for word in arguments.operands)
    )


def _has_listed_subcommand(command: Command) -> bool:
    # `k` may be any alias. The other aliases are other names for the same tools.
    name = command.name
    name = name if name in SUBCOMMANDS or name == "k" else ALIASES.get(name, name)
    if name not in SUBCOMMANDS:
        return False
    arguments = read_tool_arguments(command)
    if not arguments.is_certain:
        return False
    if name not in FORMAT_OPTIONS and (
        _brings_options(command) or arguments.names & UNSAFE_OPTIONS
    ):
        return False
    given = arguments.subcommands
    if "exec" in given[:2] and not command.is_opened:
        return False
    if name == "aws" and is_aws_read(arguments):
        return True
    return any(_fits(pattern, given) for pattern in SUBCOMMANDS[name])


def _fits(pattern: list[str], given: tuple[str, ...]) -> bool:
    words = [word for word in pattern if word != "."]
    if len(given) < len(words) or (len(words) < len(pattern) and len(given) > len(words)):
        return False
    return all(
        any(fnmatchcase(word.lower(), choice) for choice in choices.split("|"))
        for word, choices in zip(given, words, strict=False)
    )
