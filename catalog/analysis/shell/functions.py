"""Resolve calls to the script's own functions to the commands that use their arguments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from catalog.analysis.shell.command_words import Word
from catalog.analysis.shell.commands import Command

MAXIMUM_TAKERS = 30  # commands in one function

_ALL_ARGUMENTS = frozenset({"@", "*"})


class Functions:
    """The commands in functions that use the function's arguments, such as `"$@"` or `$1`, as words."""

    def __init__(self, commands: Iterable[Command]) -> None:
        self._takers: defaultdict[str, list[tuple[Command, int]]] = defaultdict(list)
        shifted: defaultdict[str, int] = defaultdict(int)
        for command in sorted(commands, key=lambda command: command.span.start):
            name = command.context.function
            if not name:
                continue
            if command.name == "shift":
                shifted[name] += _count_shifted(command)
            elif any(_is_argument(word) for word in command.words):
                self._takers[name].append((command, shifted[name]))

    def called(self, command: Command) -> Iterator[Command]:
        """Yield the commands that a call runs with its arguments. These commands have the position of the call."""
        takers = self._takers.get(command.name, [])
        if not takers or command.name in command.context.via or not command.arguments:
            return
        for taker, shifted in takers[:MAXIMUM_TAKERS]:
            words = tuple(_with_arguments(taker.words, command.arguments[shifted:]))
            if words:
                yield replace(
                    command.starting(words, takes_more=taker.takes_more),
                    span=command.span,
                    redirects=(*command.redirects, *taker.redirects),
                )


def _count_shifted(command: Command) -> int:
    count = command.arguments[0].literal if command.arguments else "1"
    return int(count) if count and count.isdecimal() and len(count) < 3 else 1


def _is_argument(word: Word) -> bool:
    variable = word.sole_variable
    if variable is None or variable.operator not in ("", ":?", "?", ":-", "-"):
        return False
    return variable.name in _ALL_ARGUMENTS or (variable.name.isdecimal() and variable.name != "0")


def _with_arguments(words: tuple[Word, ...], arguments: tuple[Word, ...]) -> Iterator[Word]:
    for word in words:
        variable = word.sole_variable
        if variable is None or not _is_argument(word):
            yield word
        elif variable.name in _ALL_ARGUMENTS:
            yield from arguments
        else:
            place = int(variable.name[:3]) - 1
            yield arguments[place] if place < len(arguments) else word
