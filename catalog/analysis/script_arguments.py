"""Where a script sees its own arguments: at its top, and in functions that it calls with `"$@"`."""

from __future__ import annotations

import re

from catalog.analysis.shell.command_words import Word
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.fragments import Span
from catalog.analysis.shell.program import Program

MAXIMUM_SHIFTS = 100  # with more, no argument has a certain place

_OPTION = re.compile(r"(?:\bin\b|;;|\n)\s*\(?[\"']?--?\w[^\n()]{0,80}\)|\bgetopts\s")
_FOR_ALL = re.compile(rb"(?m)^[ \t]*(for) \w+\s*;?\s*do\b")
# Functions of a library that only look at the arguments.
_LOOKS = re.compile(r"(?:\w*_)?(?:usage|help|args?|arguments|params)(?:_\w+)?|set|getopt")


class ScriptArguments:
    """A program, and which of its functions see the script's own arguments."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.unit = program.unit
        passed = {  # `main "$@"` and the like, which most scripts call at their end
            (command.context.function, command.name)
            for command in program.commands
            if command.name in program.functions and not command.context.via
            if any(_all_arguments(word) for word in command.arguments[:1])
        }
        self.top = {""}
        while more := {name for caller, name in passed if caller in self.top} - self.top:
            self.top |= more
        replaced = [
            command.span.start
            for command in self.commands("set")
            if command.has_option("--") and not command.context.is_conditional
            if not any(map(_all_arguments, command.arguments))
        ]
        self._replaced_at = min(replaced, default=len(self.unit.source))
        shifts = self.commands("shift")
        self._shifts = [(c.span.start, _shifted(c)) for c in shifts if not c.context.loops]
        self._loops = {command.context.loops[-1] for command in shifts if command.context.loops}

    def commands(self, name: str) -> list[Command]:
        """The commands of this name that see the script's arguments."""
        named = (command for command in self.program.commands if command.name == name)
        return [one for one in named if self.is_top(one.span, one.context.function)]

    def is_top(self, span: Span, function: str) -> bool:
        """Whether `$1` is the script's first argument there, if nothing shifts it."""
        return span.unit is self.unit and function in self.top

    def position(self, name: str, span: Span, function: str) -> int | None:
        """Which argument of the script `$name` is here; None if it is none, or a different one in each round."""
        if not self.is_top(span, function) or span.start >= self._replaced_at:
            return None
        if len(self._loops) + len(self._shifts) > MAXIMUM_SHIFTS:
            return None
        if any(loop.span.start < span.start < loop.span.end for loop in self._loops):
            return None
        return int(name) + sum(count for at, count in self._shifts if at < span.start)

    def is_required(
        self, name: str, position: int | None, function: str, *, otherwise: bool
    ) -> bool:
        """Whether the script ends without the value; `otherwise` if it has no test of it."""
        variables = self.program.variables
        names = {(name, function), (name, "")}
        if position is not None:
            names |= {(str(position), scope) for scope in self.top}
            counts = {(f"#{position}", scope) for scope in self.top}
            if variables.demanded & counts:
                return True
            otherwise &= not any(one[0].startswith("#") for one in variables.demanded)
        return bool(variables.demanded & names) or (otherwise and not variables.tested & names)

    def passed_on(self) -> int | None:
        """The line that uses all arguments at once, as `command "$@"` or `for NAME in "$@"`."""
        texts = {
            loop: self.unit.text(loop.span.start, loop.span.end)
            for loop in self.program.loops[:MAXIMUM_SHIFTS]
            if loop.span.unit is self.unit
        }
        loops = {loop for loop, text in texts.items() if not _OPTION.search(text)}
        options = [loop.span for loop in texts.keys() - loops]
        used = [loop.span for loop in loops & self._loops]
        used += [Span(self.unit, *found.span(1)) for found in _FOR_ALL.finditer(self.unit.source)]
        for command in self.program.commands:
            is_own = command.name in self.program.functions or _LOOKS.fullmatch(command.name)
            if not is_own and command.context.function in self.top:
                used += [word.span for word in command.words if _all_arguments(word)]
        for one in self.program.assignments:
            is_option = any(span.start <= one.span.start < span.end for span in options)
            if one.function in self.top and not is_option and any(map(_all_arguments, one.values)):
                used.append(one.span)
        return min((span.line for span in used if span.unit is self.unit), default=None)


def _all_arguments(word: Word) -> bool:
    """Whether the word is `"$@"`, `"${@:2}"` or `$*`; in a longer text `$*` is only shown."""
    is_alone = word.sole_variable is not None
    return any(v.name == "@" or (v.name == "*" and is_alone) for v in word.variables)


def _shifted(command: Command) -> int:
    count = command.arguments[0].literal if command.arguments else "1"
    return int(count) if count and count.isdecimal() and len(count) < 3 else 0
