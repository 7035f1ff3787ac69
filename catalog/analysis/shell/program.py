"""Reads a script into a flat list of every command it would run, however deep they are wrapped."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice

from catalog.analysis.dialect import find_dialect
from catalog.analysis.shell.command_words import Word, show, show_text
from catalog.analysis.shell.commands import (
    Assignment,
    Command,
    Context,
    Expansion,
    Found,
    Gap,
    Loop,
    Redirect,
    split_words,
)
from catalog.analysis.shell.fragments import Span, Unit
from catalog.analysis.shell.functions import Functions
from catalog.analysis.shell.inner_scripts import join_words, printed_text, unit_of
from catalog.analysis.shell.parsing import shared_time
from catalog.analysis.shell.tree_walk import MAXIMUM_DEPTH, walk_unit
from catalog.analysis.shell.variables import Variables
from catalog.analysis.shell.wrappers import ShellText, open_command

MAXIMUM_WRAPPERS = 12  # `sudo env nice timeout ...` in a row
MAXIMUM_UNITS = 300
MAXIMUM_BYTES = 200_000  # of all texts that stand in the script's own commands
MAXIMUM_CHANGES = 50  # of the folder
MAXIMUM_RESOLVED = 20_000  # words that variables stand for
MAXIMUM_CALLS = 3_000  # of functions, with each command that gets their arguments
MAXIMUM_COMMANDS = 50_000

_ALL_ARGUMENTS = frozenset({"@", "*"})


@dataclass(frozen=True, eq=False)
class Program:
    """A script as its analysis sees it: nothing here depends on running it."""

    unit: Unit
    commands: tuple[Command, ...]  # by line
    redirects: tuple[Redirect, ...]
    loops: tuple[Loop, ...]
    assignments: tuple[Assignment, ...]
    expansions: tuple[Expansion, ...]
    functions: frozenset[str]
    gaps: tuple[Gap, ...]
    variables: Variables

    @property
    def unread_lines(self) -> set[int]:
        """The lines of the script that the parser could not read."""
        gaps = (gap for gap in self.gaps if gap.code in ("unparsed", "skipped"))
        return {line for gap in gaps for line in range(gap.span.line, gap.last_line + 1)}

    @cached_property
    def _by_output(self) -> dict[tuple[Unit, int], list[Command]]:
        inside: dict[tuple[Unit, int], list[Command]] = {}
        for command in self.commands:
            for key in command.context.outputs:
                inside.setdefault(key, []).append(command)
        return inside

    @cached_property
    def _by_pipe(self) -> dict[tuple[Unit, int], list[tuple[int, Command]]]:
        piped: dict[tuple[Unit, int], list[tuple[int, Command]]] = {}
        for command in self.commands:
            for unit, start, place in command.context.pipes:
                piped.setdefault((unit, start), []).append((place, command))
        return piped

    @cached_property
    def folder_changes(self) -> tuple[Command, ...]:
        """The first `cd` commands of the script; nobody writes more of them."""
        changes = (command for command in self.commands if command.name == "cd")
        return tuple(islice(changes, MAXIMUM_CHANGES))

    def inside(self, word: Word) -> list[Command]:
        """The commands in the substitutions of the word: what it consists of is their output."""
        keys = [(word.span.unit, output.start) for output in word.outputs]
        return [command for key in keys for command in self._by_output.get(key, [])]

    def piped_into(self, command: Command) -> list[Command]:
        """The commands that stand before this one in its pipelines."""
        return [
            other
            for unit, start, place in command.context.pipes
            for other_place, other in self._by_pipe.get((unit, start), [])
            if other_place < place
        ]


@lru_cache(maxsize=2)  # one request asks for the same script several times
def read_program(source: bytes) -> Program:
    """Every command of the script, seen through sudo, xargs, `bash -c`, ssh, functions and pipes.

    Windows line ends are read as line ends. What can't be followed is a gap; nothing is raised.
    """
    unit = Unit(source.replace(b"\r\n", b"\n"))
    with shared_time():
        found = walk_unit(unit, Context())
        found.gaps += find_dialect(unit)
        commands = list(_Reader(found).read())
    return Program(
        unit=unit,
        commands=tuple(sorted(commands, key=lambda command: command.span.line)),
        redirects=tuple(found.redirects),
        loops=tuple(found.loops),
        assignments=tuple(found.assignments),
        expansions=tuple(found.expansions),
        functions=frozenset(found.functions),
        gaps=tuple(found.gaps),
        variables=Variables(found),
    )


class _Reader:
    """Opens one command after the other; what is inside comes to the end of the queue."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.variables = Variables(found)
        self.functions = Functions(found.commands)
        self.units = 0
        self.bytes_read = 0
        self.calls = 0
        self.words_resolved = 0
        self.piped: dict[tuple[Unit, int, int], list[Command]] = {}
        self.queue: deque[Command] = deque()
        self._enqueue(found.commands)

    def _enqueue(self, commands: Iterable[Command]) -> None:
        for command in commands:
            self.queue.append(command)
            if command.context.pipes:
                self.piped.setdefault(command.context.pipes[-1], []).append(command)

    def read(self) -> Iterator[Command]:
        for _ in range(MAXIMUM_COMMANDS):
            if not self.queue:
                return
            command = self.queue.popleft()
            self._note_dynamic(command)
            command = self._fed_by_pipe(self._resolved(command))
            opened = self._opened(command)
            for inner in opened:
                if isinstance(inner, Command):
                    self.queue.append(inner)
                else:
                    self._read_text(inner, command)
            yield replace(command, is_opened=bool(opened))
        self._gap(self.queue[0].span, "too_complex", "From here on there are too many commands.")

    def _opened(self, command: Command) -> list[Command | ShellText]:
        opened = [*open_command(command), *self._called(command)]
        if opened and len(command.context.via) >= MAXIMUM_WRAPPERS:
            self._gap(
                command.span, "too_complex", "Commands that start commands, too many in a row."
            )
            return []
        return opened

    def _resolved(self, command: Command) -> Command:
        """The command with variables replaced where they hold its name, options or an array."""
        if all(word.sole_variable is None for word in command.words):
            return command
        words: list[Word] = []
        for place, word in enumerate(command.words):
            values = self._values(word, is_name=place == 0)
            self.words_resolved += len(values)
            if self.words_resolved > MAXIMUM_RESOLVED:
                self._gap(word.span, "too_complex", "Too many values of variables to be judged.")
                return command
            words += values or [word]
        return replace(command, words=tuple(words))

    def _values(self, word: Word, *, is_name: bool) -> list[Word]:
        variable = word.sole_variable
        if variable is None or self.words_resolved > MAXIMUM_RESOLVED:
            return []
        array = self.variables.array(variable.name)
        if array is not None:
            return list(array)
        value = self.variables.known(variable.name) if not variable.operator else None
        if value is None and is_name:
            value = self.variables.default(variable.name)
        if value is None or (variable.quoted and not is_name):
            return []
        return list(split_words(value, word.span))

    def _fed_by_pipe(self, command: Command) -> Command:
        """The command with the text that an `echo`, `printf` or heredoc before it pipes in."""
        if command.fed_text or not command.context.pipes:
            return command
        unit, start, place = command.context.pipes[-1]
        before = self.piped.get((unit, start, place - 1), [])
        text = printed_text(before[0]) if len(before) == 1 else None
        if text is None:
            return command
        return replace(command, redirects=(*command.redirects, Redirect("text", text)))

    def _called(self, command: Command) -> Iterator[Command]:
        """The commands of the called function that its arguments become a part of."""
        calls = list(self.functions.called(command))
        self.calls += len(calls)
        if calls and self.calls > MAXIMUM_CALLS:
            self._gap(command.span, "too_complex", "Too many calls of functions to be judged.")
        else:
            yield from calls

    def _read_text(self, text: ShellText, command: Command) -> None:
        word = join_words(text.words)
        known = word.sole_variable and self.variables.known(word.sole_variable.name)
        if not known and not any(text.strip() for text in word.texts):
            message = f"The text that {command.name} runs is known only when the script runs."
            self._gap(word.span, "dynamic_code", message)
            return
        depth = command.span.unit.depth + 1
        inner_unit = unit_of(word, known or None, depth=depth)
        self.units += 1
        self.bytes_read += len(inner_unit.source)
        is_too_much = self.units > MAXIMUM_UNITS or self.bytes_read > MAXIMUM_BYTES
        if depth > MAXIMUM_DEPTH or is_too_much:
            self._gap(word.span, "too_complex", "Commands inside commands, too many to be judged.")
            return
        if not known and (word.variables or word.outputs):
            message = (
                f"A value becomes part of the text that {command.name} runs: {show(word)};"
                " whatever it contains is run as code."
            )
            self._gap(word.span, "spliced_value", message)
        context = replace(command.context, via=(*command.context.via, command.name))
        inner = walk_unit(inner_unit, context)
        if len(inner.commands) == 1:  # `ssh host bash <<EOF`: what is fed to ssh reaches it
            fed = tuple(redirect for redirect in command.redirects if redirect.kind == "text")
            only = inner.commands[0]
            inner.commands[0] = replace(only, redirects=(*fed, *only.redirects))
        self._enqueue(inner.commands)
        self.found.add(inner)

    def _note_dynamic(self, command: Command) -> None:
        name = command.words[0]
        if name.literal is not None:
            return
        variable = name.sole_variable
        if variable and variable.name in _ALL_ARGUMENTS and command.context.function:
            return  # the calls of the function are judged instead
        if variable and (
            self.variables.known(variable.name)
            or self.variables.array(variable.name)
            or self.variables.is_switch(variable.name)
        ):
            return
        likely = self.variables.default(variable.name) if variable else None
        judged = f"; judged as {show_text(likely)}" if likely else ""
        message = f"What {show(name)} runs is known only when the script runs{judged}."
        self._gap(name.span, "dynamic_code", message)

    def _gap(self, span: Span, code: str, message: str) -> None:
        self.found.gaps.append(Gap(span, code, message))
