"""The types that a script is parsed into: commands, redirections, loops, assignments and gaps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from catalog.analysis.shell.command_words import Part, Text, Variable, Word
from catalog.analysis.shell.conditions import Tested
from catalog.analysis.shell.fragments import Span, Unit

STANDARD_FOLDERS = frozenset(
    {"", "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin"}
)


RedirectKind = Literal["read", "write", "append", "text"]


@dataclass(frozen=True, slots=True, eq=False)
class Redirect:
    """A redirection. `word` is the file, or the text of a heredoc or herestring."""

    kind: RedirectKind
    word: Word


@dataclass(frozen=True, slots=True, eq=False)
class Loop:
    """A loop. `endless` is true if its condition never ends the loop."""

    span: Span
    endless: bool


@dataclass(frozen=True, slots=True)
class Context:
    """The constructs that contain a command, each listed with the outermost first."""

    loops: tuple[Loop, ...] = ()
    pipes: tuple[tuple[Unit, int, int], ...] = ()  # unit and offset of the pipeline, position in it
    outputs: tuple[tuple[Unit, int], ...] = ()  # unit and offset of each `$(...)` around it
    function: str = ""
    via: tuple[str, ...] = ()  # the commands that run it, such as sudo, xargs or bash
    is_conditional: bool = False  # in a branch, a loop, or after && or ||


@dataclass(frozen=True, eq=False)
class Command:
    """A simple command with its name and arguments. `[` and `local` are also commands."""

    words: tuple[Word, ...]
    span: Span
    context: Context = field(default_factory=Context)
    assignments: tuple[Assignment, ...] = ()  # `NAME=value` before the name
    redirects: tuple[Redirect, ...] = ()
    takes_more: bool = False  # xargs or find adds operands at run time
    is_opened: bool = False  # the commands that it starts are listed separately

    @cached_property
    def name(self) -> str:
        """Return the program's name without its folder, or "" if it is known only at run time."""
        literal = self.words[0].literal if self.words else None
        if literal is None and self.words and self.words[0].parts:
            last = self.words[0].parts[-1]  # `$HOME/bin/name`
            literal = last.value if isinstance(last, Text) and "/" in last.value else None
        return (literal or "").rstrip("/").rpartition("/")[2]

    @property
    def is_standard(self) -> bool:
        """Return whether the command's name has no folder or a system folder."""
        literal = self.words[0].literal if self.words else None
        return literal is not None and literal.rpartition("/")[0] in STANDARD_FOLDERS

    @property
    def arguments(self) -> tuple[Word, ...]:
        return self.words[1:]

    def has_option(self, option: str) -> bool:
        """Return whether one of the arguments is exactly this option."""
        return any(word.literal == option for word in self.arguments)

    @property
    def fed_text(self) -> Word | None:
        """Return the text of a heredoc or herestring on the standard input."""
        fed = [redirect.word for redirect in self.redirects if redirect.kind == "text"]
        return fed[-1] if fed else None

    def starting(self, words: tuple[Word, ...], *, takes_more: bool = False) -> Command:
        """Return the command made of `words` that this command starts. The new command inherits this command's input
        and context.
        """
        return replace(
            self,
            words=words,
            span=Span(words[0].span.unit, words[0].span.start, words[-1].span.end)
            if words[0].span.unit is words[-1].span.unit
            else self.span,
            context=replace(self.context, via=(*self.context.via, self.name)),
            assignments=(),
            takes_more=takes_more or self.takes_more,
            is_opened=False,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Assignment:
    """`name=value`, or an array with its values in order. `values` is empty if the assignment has no value."""

    name: str
    values: tuple[Word, ...]
    span: Span
    is_array: bool = False
    appends: bool = False
    is_loop: bool = False  # the value comes from a `for` loop
    function: str = ""
    in_loop: bool = False
    is_conditional: bool = False

    @property
    def value(self) -> Word | None:
        return self.values[0] if len(self.values) == 1 and not self.is_array else None


@dataclass(frozen=True, slots=True, eq=False)
class Expansion:
    """A `${...}` expansion in the script."""

    variable: Variable
    span: Span
    function: str


# Codes of gaps for lines that the parser could not read.
UNREAD_CODES = frozenset({"unparsed", "skipped"})


@dataclass(frozen=True, slots=True, eq=False)
class Gap:
    """Code that could not be analyzed, and the reason."""

    span: Span
    code: str
    message: str

    @property
    def last_line(self) -> int:
        """Return the last line of the script that the gap covers."""
        return self.span.unit.line(max(self.span.start, self.span.end - 1))


@dataclass(frozen=True, slots=True, eq=False)
class Unseen:
    """Code that a command runs but that is not in the script."""

    command: Command
    words: tuple[Word, ...] = ()  # the words that form the code
    writers: tuple[Command, ...] = ()  # the commands that write the code to a file or a pipe


@dataclass(slots=True, eq=False)
class Found:
    """The result of walking one unit, which is mutable during the walk."""

    commands: list[Command] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)
    variable_writers: set[str] = field(default_factory=set)  # set by `read`, `for` and similar
    expansions: list[Expansion] = field(default_factory=list)  # each `${...}`
    tested: list[Tested] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)
    own: dict[str, int] = field(default_factory=dict)  # lines of certainly defined functions
    gaps: list[Gap] = field(default_factory=list)
    group_writes: list[tuple[Redirect, Span]] = field(default_factory=list)  # `{ ...; } > file`

    def add(self, other: Found) -> None:
        self.commands += other.commands
        self.redirects += other.redirects
        self.loops += other.loops
        self.assignments += other.assignments
        self.variable_writers |= other.variable_writers
        self.expansions += other.expansions
        self.tested += other.tested
        self.functions |= other.functions
        self.gaps += other.gaps
        self.group_writes += other.group_writes


def split_words(word: Word, span: Span) -> Iterator[Word]:
    """Yield the words that an unquoted expansion with this value becomes."""
    parts: list[Part] = []
    for part in word.parts:
        if not isinstance(part, Text):
            parts.append(part)
            continue
        first, *rest = re.split(r"\s+", part.value)
        parts += [Text(first)] if first else []
        for piece in rest:
            if parts:
                yield Word(tuple(parts), span)
            parts = [Text(piece)] if piece else []
    if parts:
        yield Word(tuple(parts), span)
