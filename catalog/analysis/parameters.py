"""Parameters that a script asks for: variables, arguments and options."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from catalog.analysis.choices import find_choices
from catalog.analysis.shell.command_words import Variable
from catalog.analysis.shell.commands import Assignment, Command, Expansion
from catalog.analysis.shell.program import Program, read_program
from catalog.analysis.types import encode_script
from catalog.analysis.word_sets import word_set


class ParameterType(StrEnum):
    """What kind of value a parameter takes, as guessed from its name and default."""

    TEXT = "text"
    NUMBER = "number"
    PATH = "path"
    CHOICE = "choice"


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One value that a script takes. `default` is None if there is none or it is computed."""

    name: str
    type: ParameterType
    required: bool
    default: str | None = None
    description: str = ""
    line: int = 1
    position: int | None = None  # for an argument of the script: 1 for "$1"
    option: str = ""  # for a value that getopts reads: "n" for `-n VALUE`
    choices: tuple[str, ...] = ()


_NUMBERS = word_set(
    """
    age amount bytes count days depth hours interval lines limit max maximum min minimum minutes
    months number percent pid port ports replicas retries seconds size threshold timeout top uid
    weeks gid n num workers threads attempts level
    """
)
_PATHS = word_set(
    """
    dir directory path file folder root home destination dest logfile config conf backup archive
    filename pathname mountpoint socket keyfile log certificate chain device
    """
)
_POSITIONAL = re.compile(r"[1-9]\d?")
_NAME = re.compile(r"[A-Za-z_]\w*")
_DEFAULTS = frozenset({":-", "-", ":=", "="})
_REQUIRED = frozenset({":?", "?"})
# The letter of a branch of `case $option in`, the last one before an assignment.
_BRANCH = re.compile(r"(?:^|[\s;(])(\w)\)")
# What every shell has, or a machine's administrator sets for all of them.
_ENVIRONMENT = word_set(
    """
    HOME PATH USER LOGNAME SHELL PWD OLDPWD TMPDIR TMP TEMP EDITOR VISUAL PAGER TERM LANG LC_ALL
    HOSTNAME DISPLAY IFS MAIL UID EUID SUDO_USER SSH_CONNECTION SSH_TTY BASH_VERSION NO_COLOR CI
    """
)


def find_parameters(script: str, *, also: Collection[str] = ()) -> tuple[Parameter, ...]:
    """The parameters of the script, in the order in which it asks for them.

    These are `${NAME:?message}`, `${NAME:=default}`, `NAME=${NAME:-default}`, arguments as in `NAME=$1` or
    `${1:?message}` outside of functions, and options whose value getopts reads. A mere `${NAME:-default}` is one if
    its name is in `also`. Raises UnreadableScript.
    """
    return parameters_of(read_program(encode_script(script)), also=also)


def parameters_of(program: Program, *, also: Collection[str] = ()) -> tuple[Parameter, ...]:
    """The same for a script that has been parsed already."""
    candidates = [
        *_from_assignments(program),
        *_from_getopts(program),
        *_from_expansions(program),
        *(one for one in possible_parameters(program) if one.name in also),
    ]
    found: dict[str, Parameter] = {}
    for parameter in sorted(candidates, key=lambda parameter: parameter.line):
        taken = {other.position for other in found.values()} - {None}
        if parameter.name not in found and parameter.position not in taken:
            found[parameter.name] = parameter
    choices = find_choices(program) if found else {}
    return tuple(_with_choices(parameter, choices) for parameter in found.values())


def possible_parameters(program: Program) -> Iterator[Parameter]:
    """`${NAME:-default}` anywhere in the script, for names in `also`."""
    assigned = {assignment.name for assignment in program.assignments}
    seen: set[str] = set()
    for expansion in program.expansions:
        variable = expansion.variable
        is_named = variable.name.isupper() and _NAME.fullmatch(variable.name)
        if (
            expansion.span.unit is program.unit
            and variable.operator in (":-", "-")
            and variable.operand
            and is_named
            and variable.name not in assigned | _ENVIRONMENT | seen
        ):
            seen.add(variable.name)
            yield _parameter(variable.name, variable, expansion, program)


def _with_choices(parameter: Parameter, choices: Mapping[str, tuple[str, ...]]) -> Parameter:
    found = choices.get(parameter.name) or choices.get(str(parameter.position or ""))
    if not found or (parameter.default is not None and parameter.default not in found):
        return parameter
    return replace(parameter, type=ParameterType.CHOICE, choices=found)


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


def _from_getopts(program: Program) -> Iterator[Parameter]:
    """`n) NAME=$OPTARG` in the loop of a getopts that knows `n:`."""
    known = {letter for command in program.commands for letter in _letters(command, program)}
    for assignment in program.assignments:
        variable = assignment.value.sole_variable if assignment.value else None
        if (
            variable is None
            or variable.name != "OPTARG"
            or assignment.function
            or assignment.span.unit is not program.unit
        ):
            continue
        before = program.unit.text(0, assignment.span.start)
        letters = _BRANCH.findall(before)
        if letters and letters[-1] in known:
            default = _earlier_value(assignment, program)
            needed = assignment.name in program.tested or _is_demanded(assignment.name, program)
            yield Parameter(
                name=assignment.name,
                type=guess_type(assignment.name, default),
                required=needed and not default,
                default=default or None,
                line=assignment.span.line,
                option=letters[-1],
            )


def _letters(command: Command, program: Program) -> Iterator[str]:
    """The options of a getopts at the script's top that take a value."""
    is_top = command.span.unit is program.unit and not command.context.function
    if command.name == "getopts" and is_top and command.arguments:
        yield from re.findall(r"(\w):", command.arguments[0].literal or "")


def _earlier_value(assignment: Assignment, program: Program) -> str | None:
    """The value that the script itself gives the variable before it reads its options."""
    values = [
        other.value.literal
        for other in program.assignments
        if other.name == assignment.name
        and other.span.start < assignment.span.start
        and other.value is not None
        and not other.in_loop
    ]
    return values[-1] if values else None


def _is_demanded(name: str, program: Program) -> bool:
    return any(
        expansion.variable.name == name and expansion.variable.operator in _REQUIRED
        for expansion in program.expansions
    )


def _shifts(program: Program) -> list[int]:
    """Whether the script shifts its arguments by one here."""
    return [
        command.span.start
        for command in program.commands
        if command.name == "shift" and command.span.unit is program.unit and not command.arguments
    ]


def _from_expansions(program: Program) -> Iterator[Parameter]:
    """`${NAME:?message}` and `${NAME:=default}`, and `${1:?message}` if no variable is assigned from it."""
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
    """The operand's value if it is literal; None if the shell would compute it."""
    if re.search(r"[$`]", operand):
        return None
    quoted = re.fullmatch(r"(['\"])(.*)\1", operand, re.DOTALL)
    text = quoted[2] if quoted else operand
    return re.sub(r"\\(.)", r"\1", text)


def guess_type(name: str, default: str | None) -> ParameterType:
    """The likely type of a parameter, from its default and the last word of its name."""
    words = name.lower().split("_")
    if default:
        if re.fullmatch(r"-?\d+(\.\d+)?", default):
            return ParameterType.NUMBER
        if re.match(r"(~|\.{0,2})/|[.~]$", default):
            return ParameterType.PATH
    elif words[-1] in _NUMBERS:
        return ParameterType.NUMBER
    return ParameterType.PATH if words[-1] in _PATHS else ParameterType.TEXT
