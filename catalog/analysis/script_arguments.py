"""Find where a script uses its own arguments: at the top level, and in functions that it calls with `"$@"`."""

from __future__ import annotations

import re

from catalog.analysis.shell.command_words import Word
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.fragments import Span
from catalog.analysis.shell.program import Program

MAXIMUM_SHIFTS = 100  # with more, the position of arguments is treated as unknown

_OPTION = re.compile(r"(?:\bin\b|;;|\n)\s*\(?[\"']?--?\w[^\n()]{0,80}\)|\bgetopts\s")
_FOR_ALL = re.compile(rb"(?m)^[ \t]*(for) \w+\s*;?\s*do\b")
# Names of functions that only inspect the arguments.
_LOOKS = re.compile(r"(?:\w*_)?(?:usage|help|args?|arguments|params)(?:_\w+)?|set|getopt")


class ScriptArguments:
    """A program and the functions that receive the script's own arguments."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.unit = program.unit
        passed = {  # calls such as `main "$@"` at the end of the script
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
        """Return the commands with this name that have access to the script's arguments."""
        named = (command for command in self.program.commands if command.name == name)
        return [one for one in named if self.is_top(one.span, one.context.function)]

    def is_top(self, span: Span, function: str) -> bool:
        """Return whether `$1` in this span is the script's first argument, if no `shift` precedes it."""
        return span.unit is self.unit and function in self.top

    def position(self, name: str, span: Span, function: str) -> int | None:
        """Return the number of the script argument that `$name` refers to here, or None if the number is not fixed."""
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
        """Return whether the script exits without the value. If the script does not test the value, return
        `otherwise`.
        """
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
        """Return the first line that uses all arguments at once, as in `command "$@"` or `for NAME in "$@"`."""
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
    """Return whether the word contains `"$@"` or `"${@:2}"`, or is `$*`. A longer text usually only displays `$*`."""
    is_alone = word.sole_variable is not None
    return any(v.name == "@" or (v.name == "*" and is_alone) for v in word.variables)


def _shifted(command: Command) -> int:
    count = command.arguments[0].literal if command.arguments else "1"
    return int(count) if count and count.isdecimal() and len(count) < 3 else 0
