"""The commands that are never the host's own: they would reach a network, a daemon or a machine.

Each is laid over the real one in every world, so that a call nobody prepared is noticed and not answered by
what happens to be installed. `personas.json` has for each which calls only read, and rules that a case can
have by naming the command.
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
    options: NotRequired[list[str]]  # that may stand before such a call, and change nothing
    reads: list[list[str]]  # patterns of calls that change nothing
    # Arguments with which they change something after all, where no pattern says them word for word: `-c` is that
    # letter among short options, `--clear` the option and its abbreviations, anything else a pattern.
    changes: NotRequired[list[str]]
    input: NotRequired[list[list[str]]]  # patterns of calls that read their input to its end
    rules: list[RuleRequest]


@cache
def load_personas() -> dict[str, Persona]:
    path = Path(__file__).parent / "personas.json"
    personas: dict[str, Persona] = json.loads(path.read_text())
    return personas


def only_reads(command: str, arguments: tuple[str, ...]) -> bool:
    """Whether this call is known to change nothing; sudo is not the one that changes."""
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
    """The arguments that the pattern does not say word for word."""
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
