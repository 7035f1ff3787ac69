"""Find the parameters of a script: variables, arguments and options."""

from __future__ import annotations

import re
from bisect import bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from catalog.analysis.choices import find_choices
from catalog.analysis.script_arguments import ScriptArguments
from catalog.analysis.shell.command_words import Variable
from catalog.analysis.shell.commands import Assignment, Command, Expansion
from catalog.analysis.shell.program import Program, read_program
from catalog.analysis.tables import PATTERNS, WORDS
from catalog.analysis.types import encode_script


class ParameterType(StrEnum):
    """The kind of value that a parameter takes, guessed from its name and default."""

    TEXT = "text"
    NUMBER = "number"
    PATH = "path"
    CHOICE = "choice"


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A value that a script takes. `default` is None if the script has no default or computes it."""

    name: str
    type: ParameterType
    required: bool
    default: str | None = None
    description: str = ""
    line: int = 1
    position: int | None = None  # for an argument of the script: 1 for "$1"
    option: str = ""  # without the first dash: "n" for `-n VALUE`, "-n=" for `--n=VALUE`
    is_environment: bool = False  # never set by the script, so programs that it starts may read it
    choices: tuple[str, ...] = ()


_NUMBERS = WORDS["number-names"]
_PATHS = WORDS["path-names"]
_POSITIONAL = re.compile(r"[1-9]\d?")
_NAME = re.compile(r"[A-Za-z_]\w*")
_DEFAULTS = frozenset({":-", "-", ":=", "="})
_REQUIRED = frozenset({":?", "?"})
# Matches the options of a `case` branch. The last match before an assignment is used.
_BRANCH = re.compile(r"(?:^|[\s;(])((?:[\"']?-{1,2}\w[\w=*\"'-]*(?:\s*\|\s*)?)+|\w)\s*\)")
_NEAR = 1_000  # bytes between a branch and its assignment


def find_parameters(script: str) -> tuple[Parameter, ...]:
    """Return the parameters of the script, in the order in which it uses them.

    Parameters are variables that the script uses but never sets, such as `$NAME`, `${NAME:?message}` and
    `NAME=${NAME:-default}`. Arguments, as in `NAME=$1`, are also parameters. So are options with a value that getopts
    or a branch such as `--name) NAME=$2` reads. A parameter is required if the script exits without it, or uses an
    argument without testing it. Raises UnreadableScript.
    """
    return parameters_of(read_program(encode_script(script)))


def parameters_of(program: Program) -> tuple[Parameter, ...]:
    """Return the parameters of a script that has already been parsed."""
    script = ScriptArguments(program)
    candidates = [
        *_from_assignments(script),
        *_from_options(script),
        *_from_expansions(script),
        *_from_arguments(script),
        *_from_environment(script),
    ]
    found: dict[str, Parameter] = {}
    taken: set[int | None] = set()
    for parameter in candidates:
        if parameter.name not in found and parameter.position not in taken:
            found[parameter.name] = parameter
            taken |= {parameter.position} - {None}
    # Drop the options if the script reads an argument before them, because `fill` inserts options first.
    options = [p.line for p in found.values() if p.option]
    if any(p.position and p.line < min(options, default=0) for p in found.values()):
        found = {name: p for name, p in found.items() if not p.option}
    choices = find_choices(program) if found else {}
    ordered = sorted(found.values(), key=lambda parameter: parameter.line)
    return tuple(_with_choices(parameter, choices) for parameter in ordered)


def _with_choices(parameter: Parameter, choices: Mapping[str, tuple[str, ...]]) -> Parameter:
    found = choices.get(parameter.name) or choices.get(str(parameter.position or ""))
    if not found or (parameter.default is not None and parameter.default not in found):
        return parameter
    return replace(parameter, type=ParameterType.CHOICE, choices=found)


def _from_assignments(script: ScriptArguments) -> Iterator[Parameter]:
    """Yield parameters from `NAME=$1`, `NAME=${1:-default}` and `NAME=${NAME:-default}`."""
    for assignment in script.program.assignments:
        variable = assignment.value.sole_variable if assignment.value else None
        if variable is None or assignment.span.unit is not script.unit or assignment.is_loop:
            continue
        if variable.operator not in _DEFAULTS | _REQUIRED | {""}:
            continue
        if _POSITIONAL.fullmatch(variable.name):
            position = script.position(variable.name, assignment.span, assignment.function)
            if position is not None and not assignment.in_loop:
                yield _parameter(assignment.name, variable, assignment, script, position=position)
        elif variable.name == assignment.name and variable.operator and not assignment.function:
            yield _parameter(assignment.name, variable, assignment, script)


def _from_options(script: ScriptArguments) -> Iterator[Parameter]:
    """Yield parameters from `n) NAME=$OPTARG` with getopts `n:`, `--name) NAME=$2` and `--name=*) NAME=${1#*=}`."""
    known = {letter for command in script.commands("getopts") for letter in _letters(command)}
    moved = sorted(command.span.start for command in script.commands("shift"))
    for assignment in script.program.assignments:
        variable = assignment.value.sole_variable if assignment.value else None
        if variable is None or not script.is_top(assignment.span, assignment.function):
            continue
        start = assignment.span.start
        before = script.unit.text(max(0, start - _NEAR), start)
        branches = list(_BRANCH.finditer(before)) if assignment.in_loop else []
        if not branches:
            continue
        names = [re.sub(r"[\"']|\*$", "", name).strip() for name in branches[-1][1].split("|")]
        branch_at = start - len(before[branches[-1].end() :].encode())
        is_moved = bisect(moved, branch_at) < bisect(moved, start)
        if variable.name == "OPTARG":
            options = [name for name in names if name in known]
        elif variable.operator.startswith("#") or variable.operator == "/":
            options = [name[1:] for name in names if name[0] == "-" and name.endswith("=")]
        elif variable.name == ("1" if is_moved else "2"):
            options = [name[1:] for name in names if name[0] == "-" and name[-1] != "="]
        else:
            continue
        if options:
            default = _earlier_value(assignment, script.program)
            needed = script.is_required(assignment.name, None, assignment.function, otherwise=False)
            needed = needed or _is_demanded(assignment.name, script.program)
            yield Parameter(
                name=assignment.name,
                type=guess_type(assignment.name, default),
                required=needed and not default,
                default=default or None,
                line=assignment.span.line,
                option=options[0],
            )


def _letters(command: Command) -> list[str]:
    """Return the options of a getopts command that take a value."""
    return re.findall(r"(\w):", command.arguments[0].literal or "") if command.arguments else []


def _earlier_value(assignment: Assignment, program: Program) -> str | None:
    """Return the value that the script assigns to the variable before it reads its options."""
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


def _from_expansions(script: ScriptArguments) -> Iterator[Parameter]:
    """Yield parameters from `${NAME:?message}` and `${NAME:=default}`."""
    assigned = {
        assignment.name: assignment.span.line
        for assignment in reversed(script.program.assignments)
        if not _is_own_default(assignment)
    }
    for expansion in script.program.expansions:
        variable = expansion.variable
        if (
            expansion.span.unit is script.unit
            and variable.operator in _REQUIRED | {":=", "="}
            and _NAME.fullmatch(variable.name)
            and assigned.get(variable.name, expansion.span.line) >= expansion.span.line
        ):
            yield _parameter(variable.name, variable, expansion, script)


def _from_arguments(script: ScriptArguments) -> Iterator[Parameter]:
    """Yield parameters from arguments such as `$1` that are not assigned to a variable."""
    for expansion in script.program.expansions:
        variable = expansion.variable
        if _POSITIONAL.fullmatch(variable.name):
            position = script.position(variable.name, expansion.span, expansion.function)
            if position is not None:
                name = f"ARGUMENT_{position}"
                yield _parameter(name, variable, expansion, script, position=position)


def _from_environment(script: ScriptArguments) -> Iterator[Parameter]:
    """Yield variables that the script uses but never sets. A sourced file may set variables that have no default."""
    program = script.program
    known = program.variables.set_names
    sources = [c.span.start for c in program.commands if c.name in (".", "source", "eval")]
    named = {word.literal for command in program.commands for word in command.arguments}
    # Expansions with a default come first, because a default takes precedence over a test.
    for expansion in sorted(program.expansions, key=lambda one: not one.variable.operand):
        variable = expansion.variable
        is_sourced = any(at < expansion.span.start for at in sources[:1])
        is_given = variable.name.isupper() and (
            variable.operator in _DEFAULTS | {":+", "+"} or variable.name in named
        )
        if (
            expansion.span.unit is script.unit
            and _NAME.fullmatch(variable.name)
            and not (variable.is_list or variable.operator == "!" or variable.name in known)
            and not PATTERNS["standard-variable"].fullmatch(variable.name)
            and (is_given or not is_sourced)
        ):
            yield _parameter(variable.name, variable, expansion, script, is_environment=True)


def _is_own_default(assignment: Assignment) -> bool:
    variable = assignment.value.sole_variable if assignment.value else None
    return variable is not None and variable.name == assignment.name


def _parameter(
    name: str,
    variable: Variable,
    where: Assignment | Expansion,
    script: ScriptArguments,
    *,
    position: int | None = None,
    is_environment: bool = False,
) -> Parameter:
    operand = _unquote(variable.operand)
    # `${1:-}` only avoids an error with `set -u`. Later tests show whether the value is required.
    has_default = variable.operator in _DEFAULTS and variable.operand != ""
    is_bare = not variable.operator and not is_environment
    is_unconditional = isinstance(where, Expansion) or not where.is_conditional
    is_required = (
        variable.operator in _REQUIRED
        or not has_default
        and script.is_required(
            name, position, where.function, otherwise=is_bare and is_unconditional
        )
    )
    return Parameter(
        name=name,
        type=guess_type(name, operand if has_default else None),
        required=is_required,
        default=operand if has_default else None,
        description=operand or "" if variable.operator in _REQUIRED else "",
        line=where.span.line,
        position=position,
        is_environment=is_environment,
    )


def _unquote(operand: str) -> str | None:
    """Return the operand's value if it is literal, or None if the shell would compute it."""
    if re.search(r"[$`]", operand):
        return None
    quoted = re.fullmatch(r"(['\"])(.*)\1", operand, re.DOTALL)
    text = quoted[2] if quoted else operand
    return re.sub(r"\\(.)", r"\1", text)


def guess_type(name: str, default: str | None) -> ParameterType:
    """Return the likely type of a parameter, from its default and the last word of its name."""
    words = name.lower().split("_")
    if default:
        if re.fullmatch(r"-?\d+(\.\d+)?", default):
            return ParameterType.NUMBER
        if re.match(r"(~|\.{0,2})/|[.~]$", default):
            return ParameterType.PATH
    elif words[-1] in _NUMBERS:
        return ParameterType.NUMBER
    return ParameterType.PATH if words[-1] in _PATHS else ParameterType.TEXT
