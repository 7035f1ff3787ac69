"""Commands that are always stubbed, because the real commands would access a network, a daemon or the machine.

In every scenario, their stubs replace the real programs, so that a call without a prepared reply is detected.
`personas.json` defines the read-only calls of each command, and the default rules for tests that list the command.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Literal, NotRequired, TypedDict

from catalog.execution.helper.messages import RuleRequest
from catalog.execution.helper.recorded_commands.patterns import match_arguments, match_text


class Persona(TypedDict):
    mode: Literal["reply", "sudo", "su", "real"]
    options: NotRequired[list[str]]  # options that may precede such a call and change nothing
    reads: list[list[str]]  # patterns of calls that change nothing
    # Arguments with which a call in `reads` changes something, unless its pattern contains them literally. `-c` also
    # matches that letter among combined short options, and `--clear` also matches its abbreviations. Arguments with *
    # or ? are patterns.
    changes: NotRequired[list[str]]
    input: NotRequired[list[list[str]]]  # patterns of calls that read all of their input
    rules: list[RuleRequest]


@cache
def load_personas() -> dict[str, Persona]:
    path = Path(__file__).parent / "personas.json"
    personas: dict[str, Persona] = json.loads(path.read_text())
    return personas


def only_reads(command: str, arguments: tuple[str, ...]) -> bool:
    """Return whether this call is known to change nothing. For sudo and su, this is always true, because the command
    that they run is recorded separately.
    """
    persona = load_personas().get(command)
    if persona is None:
        return False
    if persona["mode"] in ("sudo", "su"):
        return True
    options = persona.get("options", ())
    first = 0
    while first < len(arguments) and any(match_text(one, arguments[first]) for one in options):
        first += 1
    call = arguments[first:]
    changes = persona.get("changes", ())
    return any(
        match_arguments(pattern, call)
        and not any(_is_said(one, argument) for argument in _free(pattern, call) for one in changes)
        for pattern in persona["reads"]
    )


def _free(pattern: list[str], call: tuple[str, ...]) -> list[str]:
    """Return the arguments that the pattern does not contain literally."""
    return [
        argument
        for position, argument in enumerate(call)
        if position >= len(pattern) or any(mark in pattern[position] for mark in "*?")
    ]


def _is_said(change: str, argument: str) -> bool:
    if "*" in change or "?" in change:
        return match_text(change, argument)
    if change.startswith("--"):
        name = argument.partition("=")[0]
        return len(name) > 3 and name.startswith("--") and change.startswith(name)
    if len(change) == 2 and change.startswith("-"):
        return argument[:1] == "-" and argument[:2] != "--" and change[1] in argument[1:]
    return change == argument
