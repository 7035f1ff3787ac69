"""The commands that are never the host's own: they would reach a network, a daemon or a machine.

Each is laid over the real one in every world, so that a call nobody prepared is noticed and not answered by
what happens to be installed. `personas.json` has for each which calls only read, and rules that a case can
have by naming the command.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Literal, TypedDict

from catalog.execution.helper.messages import RuleRequest
from catalog.execution.helper.recorded_commands.patterns import match_arguments


class Persona(TypedDict):
    mode: Literal["reply", "sudo", "su", "real"]
    reads: list[list[str]]  # patterns of calls that change nothing
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
    return any(match_arguments(pattern, arguments) for pattern in persona["reads"])
