"""Find parameter values that would make a script delete more than intended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from catalog.analysis.parameters import Parameter, parameters_of
from catalog.analysis.risk.databases import find_database_effects
from catalog.analysis.risk.deletion import DELETERS, find_deletes, find_deletions
from catalog.analysis.risk.effects import emptied_folder, name_folder
from catalog.analysis.risk.subcommands import find_subcommand_effects
from catalog.analysis.shell.command_words import Word
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.program import Program, read_program
from catalog.analysis.types import encode_script

_RULES = (find_deletions, find_subcommand_effects, find_database_effects)
_EVERYTHING_HERE = frozenset({"*", "./*", "."})
_NEVER_MEANT = frozenset({"/", ".", "..", "~"})


def dangerous_values(script: str, values: Mapping[str, str]) -> list[str]:
    """Return the reasons why these values must not be used, or an empty list.

    A value is dangerous if it is empty, `/`, `/*`, `.`, `..`, `~` or similar and reaches a command that deletes or
    overwrites files. It may also reach the command through other variables or `cd`. A parameter without a value has its
    default value, or is empty. Raises UnreadableScript.
    """
    program = read_program(encode_script(script))
    parameters = parameters_of(program)
    complete = {p.name: values.get(p.name, p.default or "") for p in parameters}
    by_position = {str(p.position): complete[p.name] for p in parameters if p.position}
    given = program.variables.given({**complete, **by_position})
    reasons: dict[str, None] = {}
    for command in program.commands:
        if not _is_destructive(command, program):
            continue
        for word in _words_that_count(command, program):
            folder = emptied_folder(given.worst(word)) if command.name in DELETERS else None
            reaching = program.variables.reaching(word)
            for parameter in _named(parameters, reaching):
                if folder is None and not parameter.required and parameter.name not in values:
                    continue  # the script handles this case
                reason = _reason(parameter, complete[parameter.name], folder, command)
                reasons.update(dict.fromkeys(reason))
    return list(reasons)


def _is_destructive(command: Command, program: Program) -> bool:
    if command.name == "find" and find_deletes(command):
        return True
    return any(effect.code == "destructive" for rule in _RULES for effect in rule(command, program))


def _words_that_count(command: Command, program: Program) -> Iterator[Word]:
    """Yield the words that determine what the command deletes, from the command or from the source of its input."""
    yield from command.words
    yield from (redirect.word for redirect in command.redirects)
    if command.takes_more:
        for other in program.piped_into(command):
            yield from other.words
    if any(word.literal in _EVERYTHING_HERE for word in command.arguments):
        for other in program.folder_changes:
            if other.span.line <= command.span.line:
                yield from other.words


def _named(parameters: Sequence[Parameter], names: set[str] | None) -> list[Parameter]:
    """Return the parameters whose name or position is among the names."""
    if names is None:
        return list(parameters)
    if not names:
        return []
    return [p for p in parameters if p.name in names or (p.position and str(p.position) in names)]


def _reason(
    parameter: Parameter, value: str, folder: str | None, command: Command
) -> Iterator[str]:
    line = command.span.line
    if folder is not None:
        shown = f'"{value}"' if value.strip() else "empty"
        yield (
            f"{parameter.name} is {shown}: line {line} would delete everything in"
            f" {name_folder(folder)}."
        )
    elif not value.strip():
        yield f"{parameter.name} is empty, but line {line} uses it to delete or overwrite files."
    elif (whole := emptied_folder(value.strip())) in _NEVER_MEANT:
        yield (
            f"{parameter.name} is {name_folder(whole or value)}, but line {line} deletes or"
            " overwrites it."
        )
