"""Parameters that a script asks for, and the script with their values put in."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from catalog.analysis.names import names
from catalog.analysis.shell.commands import Assignment, Expansion
from catalog.analysis.shell.program import Program, read_program
from catalog.analysis.shell.words import Variable
from catalog.analysis.types import encode_script


class ParameterType(StrEnum):
    """What kind of value a parameter takes, as guessed from its name and default."""

    TEXT = "text"
    NUMBER = "number"
    PATH = "path"


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One value that a script takes. `default` is None where there is none or it is computed."""

    name: str
    type: ParameterType
    required: bool
    default: str | None = None
    description: str = ""
    line: int = 1
    position: int | None = None  # for an argument of the script: 1 for "$1"


class UnfillableScript(ValueError):
    """The values do not fit the script's parameters; its message is meant for people."""


_NUMBERS = names(
    """
    age amount bytes count days depth hours interval lines limit max maximum min minimum minutes
    months number percent pid port ports replicas retries seconds size threshold timeout top uid
    weeks gid n num workers threads attempts level
    """
)
_PATHS = names(
    """
    dir directory path file folder root home destination dest logfile config conf backup archive
    filename pathname mountpoint socket keyfile log certificate chain device
    """
)
_POSITIONAL = re.compile(r"[1-9]\d?")
_NAME = re.compile(r"[A-Za-z_]\w*")
_FORBIDDEN = {"\n": "a line break", "\r": "a carriage return", "\0": "a NUL byte"}
_DEFAULTS = frozenset({":-", "-", ":=", "="})
_REQUIRED = frozenset({":?", "?"})


def find_parameters(script: str) -> tuple[Parameter, ...]:
    """The parameters of the script, in the order in which it asks for them.

    Found are `${NAME:?message}`, `${NAME:=default}`, `NAME=${NAME:-default}`, and arguments as in
    `NAME=$1` or `${1:?message}` outside of functions. Raises UnreadableScript.
    """
    return parameters_of(read_program(encode_script(script)))


def parameters_of(program: Program) -> tuple[Parameter, ...]:
    """The same for a script that has been read already."""
    found: dict[str, Parameter] = {}
    candidates = [*_from_assignments(program), *_from_expansions(program)]
    for parameter in sorted(candidates, key=lambda parameter: parameter.line):
        taken = {other.position for other in found.values()} - {None}
        if parameter.name not in found and parameter.position not in taken:
            found[parameter.name] = parameter
    return tuple(found.values())


def _from_assignments(program: Program) -> Iterator[Parameter]:
    """`NAME=$1`, `NAME=${1:-default}` and `NAME=${NAME:-default}`."""
    shifts = _shifts(program)
    for assignment in program.assignments:
        variable = assignment.value.sole_variable if assignment.value else None
        if variable is None or assignment.function or assignment.span.unit is not program.unit:
            continue
        if variable.operator not in _DEFAULTS | _REQUIRED | {""}:
            continue
        if _POSITIONAL.fullmatch(variable.name) and not assignment.in_loop:
            position = int(variable.name) + sum(at < assignment.span.start for at in shifts)
            yield _parameter(assignment.name, variable, assignment, program, position=position)
        elif variable.name == assignment.name and variable.operator:
            yield _parameter(assignment.name, variable, assignment, program)


def _shifts(program: Program) -> list[int]:
    """Where the script moves its arguments on by one."""
    return [
        command.span.start
        for command in program.commands
        if command.name == "shift" and command.span.unit is program.unit and not command.arguments
    ]


def _from_expansions(program: Program) -> Iterator[Parameter]:
    """`${NAME:?message}` and `${NAME:=default}`, and `${1:?message}` where nothing names it."""
    assigned = {
        assignment.name: assignment.span.line
        for assignment in reversed(program.assignments)
        if not _is_own_default(assignment)
    }
    for expansion in program.expansions:
        variable = expansion.variable
        if expansion.span.unit is not program.unit:
            continue
        if _POSITIONAL.fullmatch(variable.name):
            if variable.operator in _REQUIRED and not expansion.function:
                name, position = f"ARGUMENT_{variable.name}", int(variable.name)
                yield _parameter(name, variable, expansion, program, position=position)
        elif (
            variable.operator in _REQUIRED | {":=", "="}
            and _NAME.fullmatch(variable.name)
            and assigned.get(variable.name, expansion.span.line) >= expansion.span.line
        ):
            yield _parameter(variable.name, variable, expansion, program)


def _is_own_default(assignment: Assignment) -> bool:
    variable = assignment.value.sole_variable if assignment.value else None
    return variable is not None and variable.name == assignment.name


def _parameter(
    name: str,
    variable: Variable,
    where: Assignment | Expansion,
    program: Program,
    *,
    position: int | None = None,
) -> Parameter:
    operand = _unquote(variable.operand)
    # `${1:-}` only keeps `set -u` quiet; whether a value is needed shows in the tests that follow.
    has_default = variable.operator in _DEFAULTS and variable.operand != ""
    is_required = not has_default and (variable.operator not in _DEFAULTS or name in program.tested)
    return Parameter(
        name=name,
        type=guess_type(name, operand if has_default else None),
        required=is_required,
        default=operand if has_default else None,
        description=operand or "" if variable.operator in _REQUIRED else "",
        line=where.span.line,
        position=position,
    )


def _unquote(operand: str) -> str | None:
    """The operand's value where it is literal; None where the shell would compute it."""
    if re.search(r"[$`]", operand):
        return None
    quoted = re.fullmatch(r"(['\"])(.*)\1", operand, re.DOTALL)
    text = quoted[2] if quoted else operand
    return re.sub(r"\\(.)", r"\1", text)


def guess_type(name: str, default: str | None) -> ParameterType:
    """The likely type of a parameter: its default says most, then the last word of its name."""
    words = name.lower().split("_")
    if default:
        if re.fullmatch(r"-?\d+(\.\d+)?", default):
            return ParameterType.NUMBER
        if re.match(r"(~|\.{0,2})/|[.~]$", default):
            return ParameterType.PATH
    elif words[-1] in _NUMBERS:
        return ParameterType.NUMBER
    return ParameterType.PATH if words[-1] in _PATHS else ParameterType.TEXT


def fill(script: str, values: Mapping[str, str]) -> str:
    """The script with the values assigned right after its shebang and header comment.

    Every other byte stays as it is; the values are quoted, so that they stay data. Raises
    UnfillableScript for a name that the script does not ask for, a required one that is missing or
    empty, and a value with a line break, carriage return or NUL.
    """
    parameters = find_parameters(script)
    _check_values(parameters, values)
    lines = [
        f"{parameter.name}={_quote(values[parameter.name])}"
        for parameter in parameters
        if parameter.position is None and parameter.name in values
    ]
    lines += _positional_line(parameters, values)
    if not lines:
        return script
    end = _header_end(script)
    before, after = script[:end], script[end:]
    if before and not before.endswith("\n"):
        before += "\n"
    return before + "".join(line + "\n" for line in lines) + after


def _check_values(parameters: tuple[Parameter, ...], values: Mapping[str, str]) -> None:
    unknown = sorted(values.keys() - {parameter.name for parameter in parameters})
    if unknown:
        raise UnfillableScript(f"The script has no parameter {unknown[0]}.")
    for parameter in parameters:
        if parameter.required and not values.get(parameter.name):
            raise UnfillableScript(f"{parameter.name} needs a value.")
    for name, value in values.items():
        for character, what in _FORBIDDEN.items():
            if character in value:
                raise UnfillableScript(f"The value of {name} contains {what}.")


def _positional_line(parameters: tuple[Parameter, ...], values: Mapping[str, str]) -> list[str]:
    """`set -- ...`, which replaces the arguments; those left out before a given one are empty."""
    given = {
        parameter.position: values[parameter.name]
        for parameter in parameters
        if parameter.position is not None and parameter.name in values
    }
    if not given:
        return []
    arguments = (given.get(position, "") for position in range(1, max(given) + 1))
    return [f"set -- {' '.join(_quote(argument) for argument in arguments)}"]


def _quote(value: str) -> str:
    """The value between single quotes, always: `~` and numbers look like data then, too."""
    quoted = shlex.quote(value)
    return quoted if quoted != value else f"'{value}'"


def _header_end(script: str) -> int:
    """The offset after the comment lines that the script begins with."""
    position = end = 0
    while position < len(script):
        newline = script.find("\n", position)
        after = newline + 1 if newline != -1 else len(script)
        line = script[position:after].strip()
        if line.startswith("#"):
            end = after
        elif line:
            break
        position = after
    return end
