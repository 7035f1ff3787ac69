"""Suggest parameters to a script's author, and report values that can't be filled in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from catalog.analysis.parameters import Parameter, parameters_of
from catalog.analysis.script_arguments import ScriptArguments
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.program import Program, read_program
from catalog.analysis.types import encode_script

_WITH_VALUE = frozenset("adinNptu")  # options of read that take a value


@dataclass(frozen=True, kw_only=True)
class Suggested:
    """Parameters to describe, and values that can't be filled in unless the script is changed."""

    parameters: tuple[Parameter, ...]
    asked: tuple[Asked, ...]
    passed_on: int | None  # the line that uses all arguments at once


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A variable that the script reads from the keyboard."""

    name: str
    prompt: str
    line: int


def suggest_parameters(script: str) -> Suggested:
    """Return the suggestions for a script. Raises UnreadableScript."""
    program = read_program(encode_script(script))
    return Suggested(
        parameters=parameters_of(program),
        passed_on=ScriptArguments(program).passed_on(),
        asked=tuple(asked for command in program.commands for asked in _asked(command, program)),
    )


def _asked(command: Command, program: Program) -> Iterator[Asked]:
    """Yield the variables that a command such as `read -p "Which host? " HOST` reads from the keyboard."""
    is_fed = (
        command.redirects or command.context.pipes or command.context.loops or command.context.via
    )
    if command.name != "read" or is_fed or command.span.unit is not program.unit:
        return
    prompt, names = "", list[str]()
    words = iter(command.arguments)
    for word in words:
        text = word.literal or ""
        if not text.startswith("-"):
            names.append(text)
        elif text[-1] in _WITH_VALUE:
            value = next(words, None)
            if text[-1] == "p" and value is not None:
                prompt = (value.literal or "").strip()
    for name in names:
        if name.isidentifier():
            yield Asked(name=name, prompt=prompt, line=command.span.line)
