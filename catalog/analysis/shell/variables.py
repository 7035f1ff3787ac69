"""Determine what is known about a variable's value without running the script."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from copy import copy
from math import inf

from catalog.analysis.shell.command_words import Output, Text, Variable, Word, join_parts
from catalog.analysis.shell.commands import Assignment, Command, Found
from catalog.analysis.shell.conditions import Tested
from catalog.analysis.tables import WORDS

SOMETHING = "\N{OBJECT REPLACEMENT CHARACTER}"  # represents a value that is not empty
MAXIMUM_STEPS = 300  # per lookup of one word
MAXIMUM_CHAIN = 20  # length of a chain of variables
MAXIMUM_LENGTH = 2_000
MAXIMUM_ASSIGNMENTS = 50  # assignments to one variable that are checked
MAXIMUM_CHOICES = 12  # values of a variable that are analyzed one by one
MAXIMUM_REACH = 2_000  # words that are checked for one variable

_ENDING = re.compile(
    r"(?:\w+[_:-]+)?(?:die|usage|abort|fatal|bail|croak|fail|(?:err|error|exit)_?(?:exit|error|out|with)\w*)(?:[_-]\w+)?"
)
_ARITHMETIC = re.compile(
    r"(?:\(\(|;|,|\blet\s)\s*(\w+)\s*[-+*/%|&^]?=|(\w+)(?:\+\+|--)(?!\w)|(?:\+\+|--)(\w+)|\{(\w+)\}[<>]"
)
_GLOB = re.compile(r"[*?\[]")
_HOMES = frozenset({"HOME"})
_NEVER_EMPTY = WORDS["never-empty"]
_NEVER_EMPTY_OUTPUT = tuple(WORDS["never-empty-output"])


class Variables:
    """A lookup of variables under the worst-case assumption that any value that may be empty is empty."""

    def __init__(self, found: Found) -> None:
        self._given: Mapping[str, str] = {}
        self._arrays: dict[str, tuple[Word, ...] | None] = {}
        self._written = found.variable_writers
        self._assignments: defaultdict[str, list[Assignment]] = defaultdict(list)
        for assignment in found.assignments:
            self._assignments[assignment.name].append(assignment)
        defaults: defaultdict[str, set[str]] = defaultdict(set)
        for expansion in found.expansions:
            if expansion.variable.operator in (":=", ":-", "=", "-"):
                defaults[expansion.variable.name].add(expansion.variable.operand.strip("\"'"))
        self._defaults = {
            name: next(iter(values))
            for name, values in defaults.items()
            if len(values) == 1 and not re.search(r"[$`]", next(iter(values)))
        }
        self._guards: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
        ending = _Ending(found)
        for name, first, last in _guards(found, ending):
            self._guards[name].append((first, last))
        self._calls: defaultdict[str, list[Command]] = defaultdict(list)
        for command in found.commands:
            if command.name in found.functions:
                self._calls[command.name].append(command)
        self.set_names = {*self._assignments, *self._written, *_declared(found)}
        # Include the function, because `$1` differs between functions.
        self.tested = frozenset((t.name, t.function) for t in found.tested if t.is_direct)
        self.demanded = frozenset(
            (test.name, test.function) for test in found.tested if ending.is_demand(test)
        )

    def given(self, values: Mapping[str, str]) -> Variables:
        """Return a copy with the values with which the script will be started."""
        variables = copy(self)
        variables._given = values
        return variables

    def known(self, name: str) -> str | None:
        """Return the value if the variable's only assignment is literal, or else None."""
        value = self.sole_value(name)
        return value.literal if value is not None else None

    def _all_values(self, name: str, most: int = MAXIMUM_ASSIGNMENTS) -> list[Assignment]:
        """Return the assignments of the variable, or [] if there are too many or a command also sets it."""
        assignments = self._assignments.get(name, [])
        return [] if name in self._written or len(assignments) > most else assignments

    def sole_value(self, name: str) -> Word | None:
        """Return the value of a variable that is set only once, including text appended later."""
        assignments = self._all_values(name)
        values = [a.value for a in assignments if a.value and not (a.is_loop or a.is_conditional)]
        is_one = values and all(a.appends for a in assignments[1:])
        return join_parts(values) if is_one and len(values) == len(assignments) else None

    def choices(self, name: str) -> list[Word]:
        """Return all values that the script assigns, if all values are literal and at least one value always
        applies.
        """
        assignments = self._all_values(name, MAXIMUM_CHOICES)
        if not any(a.is_loop or not a.is_conditional for a in assignments):
            return []
        values = [a.value if a.values else Word((), a.span) for a in assignments]
        words = [value for value in values if value is not None and value.literal is not None]
        is_plain = len(words) == len(values) and not any(a.appends for a in assignments)
        return words if is_plain else []

    def sources(self, name: str) -> list[Word] | None:
        """Return the words assigned to the variable, or None if a command sets it or it has too many assignments."""
        assignments = self._assignments.get(name, [])
        if name in self._written or len(assignments) > MAXIMUM_ASSIGNMENTS:
            return None
        return [word for a in assignments for word in a.values]

    def default(self, name: str) -> str | None:
        """Return the only literal default from `${name:=...}` or `${name:-...}`."""
        return "true" if self.is_switch(name) else self._defaults.get(name)

    def is_switch(self, name: str) -> bool:
        """Return whether the variable is always `true` or `false`."""
        assignments = self._all_values(name)
        return bool(assignments) and all(
            a.value is not None and not a.appends and a.value.literal in ("true", "false", ":")
            for a in assignments
        )

    def varies(self, name: str) -> bool:
        """Return whether a loop or `read` sets the variable to values that are not in the script."""
        return name in self._written or any(
            assignment.is_loop
            and any(
                word.literal is None or _GLOB.search(word.span.text) for word in assignment.values
            )
            for assignment in self._assignments.get(name, [])[:MAXIMUM_ASSIGNMENTS]
        )

    def is_always_given(self, function: str, name: str) -> bool:
        """Return whether each call to the function has a literal argument at this position."""
        calls = self._calls[function][: MAXIMUM_ASSIGNMENTS + 1] if name.isdecimal() else []
        place = int(name[:3]) if calls else 0
        return 0 < len(calls) <= MAXIMUM_ASSIGNMENTS and all(
            len(call.words) > place > 0 and call.words[place].literal for call in calls
        )

    def is_output_of(self, name: str, command: str) -> bool:
        """Return whether every value of the variable is the output of this command."""
        assignments = self._assignments.get(name, [])
        return bool(assignments) and all(
            assignment.value is not None
            and any(_command_of(output).startswith(command) for output in assignment.value.outputs)
            for assignment in assignments
        )

    def array(self, name: str) -> tuple[Word, ...] | None:
        """Return the words of an array that is set once, if every value is in the script."""
        if name not in self._arrays:
            self._arrays[name] = self._array(name)
        return self._arrays[name]

    def _array(self, name: str) -> tuple[Word, ...] | None:
        assignments = self._all_values(name)
        if not assignments or not all(a.is_array for a in assignments):
            return None
        if assignments[0].appends or not all(later.appends for later in assignments[1:]):
            return None
        return tuple(word for assignment in assignments for word in assignment.values)

    def worst(self, word: Word) -> str:
        """Return the word's value, in which every variable that may be empty is empty. Unknown parts are SOMETHING."""
        return _Lookup(self, word.span.line).word(word)

    def may_be_empty(self, variable: Variable, *, line: int) -> bool:
        """Return whether this expansion can be empty at that line."""
        return _Lookup(self, line).part(variable) == ""

    def reaching(self, word: Word) -> set[str] | None:
        """Return the variables whose values are used in the word, directly or through other variables, or None if any
        variable may be used.
        """
        waiting, seen = [word], set[str]()
        for _ in range(MAXIMUM_REACH):
            if not waiting:
                return seen
            for variable in waiting.pop().variables:
                if variable.name not in seen:
                    seen.add(variable.name)
                    waiting += [
                        v for a in self._assignments.get(variable.name, []) for v in a.values
                    ]
        return None


class _Lookup:
    """A lookup of the values that variables may have at a line, with a limited number of steps."""

    def __init__(self, variables: Variables, line: int) -> None:
        self._all = variables
        self._line = line
        self._function = ""
        self._steps = 0

    def word(self, word: Word, seen: frozenset[str] = frozenset()) -> str:
        return "".join(self.part(part, seen) for part in word.parts)[:MAXIMUM_LENGTH]

    def part(self, part: Text | Variable | Output, seen: frozenset[str] = frozenset()) -> str:
        self._steps += 1
        if self._steps > MAXIMUM_STEPS:
            return SOMETHING
        if isinstance(part, Text):
            return part.value[:MAXIMUM_LENGTH]
        if isinstance(part, Output):
            if part.kind == "input" and part.source.startswith("/"):
                return part.source + SOMETHING  # a path that find inserts
            never = part.kind != "command" or _command_of(part).startswith(_NEVER_EMPTY_OUTPUT)
            return SOMETHING if never else ""
        return self._variable(part, seen)

    def _variable(self, variable: Variable, seen: frozenset[str]) -> str:
        value = self._name(variable.name, seen)
        match variable.operator:
            case "":
                return value
            case ":?" | "?" | "#":
                return value or SOMETHING
            case ":-" | ":=" | "-" | "=":
                fallback = variable.operand.strip("\"'")
                return value or (SOMETHING if "$" in fallback else fallback)
            case _:
                return SOMETHING if value else ""

    def _name(self, name: str, seen: frozenset[str]) -> str:
        if name in self._all._given:
            return self._all._given[name]
        if name in _HOMES:
            return "~"
        if self._function and self._all.is_always_given(self._function, name):
            return SOMETHING
        if name in _NEVER_EMPTY or len(seen) > MAXIMUM_CHAIN:
            return SOMETHING
        assignments = [] if name in seen else self._all._assignments.get(name, [])
        values = {
            self._assigned(assignment, seen | {name})
            for assignment in assignments[:MAXIMUM_ASSIGNMENTS]
        }
        if len(assignments) > MAXIMUM_ASSIGNMENTS:
            values.add("")
        if len(assignments) == 1 and assignments[0].is_conditional:
            values.add("")
        if name not in self._all._written and len(values) == 1 and "" not in values:
            return values.pop()
        if self._is_guarded(name):
            return SOMETHING
        if name in self._all._written or not values or "" in values:
            return ""
        return SOMETHING

    def _is_guarded(self, name: str) -> bool:
        """Return whether a test or `${name:?}` before the line excludes an empty value and the variable is not set
        again.
        """
        guards = self._all._guards.get(name, [])[:MAXIMUM_ASSIGNMENTS]
        around = [first for first, last in guards if first <= self._line <= last]
        changed = [
            assignment.span.line
            for assignment in self._all._assignments.get(name, [])[:MAXIMUM_ASSIGNMENTS]
            if around and all(v.name != name for word in assignment.values for v in word.variables)
        ]
        return any(not any(first < line <= self._line for line in changed) for first in around)

    def _assigned(self, assignment: Assignment, seen: frozenset[str]) -> str:
        if assignment.appends or len(assignment.values) > 1:
            return SOMETHING
        if not assignment.values:
            return ""
        before, self._function = self._function, assignment.function
        value = self.word(assignment.values[0], seen)
        self._function = before
        # An unquoted expansion in a `for` never produces empty words.
        if not value and assignment.is_loop and assignment.values[0].has_unquoted_expansion:
            return SOMETHING
        return value


def _command_of(output: Output) -> str:
    return output.source.lstrip("$(`< \n\t")


def _declared(found: Found) -> Iterator[str]:
    """Yield names that `local`, arithmetic or `exec {NAME}>file` may set."""
    for command in found.commands:
        if command.name in ("local", "declare", "typeset"):
            yield from (word.prefix.partition("=")[0] for word in command.arguments)
    for unit in {command.span.unit for command in found.commands}:
        for pair in _ARITHMETIC.findall(unit.source.decode("utf-8", "replace")):
            yield from pair


def _guards(found: Found, ending: _Ending) -> Iterator[tuple[str, int, float]]:
    """Yield names of variables, each with the first and last line of a range in which the variable is not empty."""
    for expansion in found.expansions:
        variable = expansion.variable
        if variable.operator == ":?" or (variable.operator == ":=" and variable.operand):
            yield variable.name, expansion.span.line, inf
    for test in found.tested:
        line = test.span.unit.line
        yield test.name, test.span.line, line(max(test.span.start, test.span.end - 1))
        if ending.is_left(test) or f"{test.name}=" in test.leads_to:
            yield test.name, line(test.after), inf


class _Ending:
    """The commands that exit the script: `exit`, functions that call it, and unknown commands with similar names."""

    def __init__(self, found: Found) -> None:
        calls: defaultdict[str, set[str]] = defaultdict(set)
        for command in found.commands:
            if command.context.function and not command.context.is_conditional:
                calls[command.context.function].add(command.name)
        self._functions = found.functions
        self._names = {"exit"}
        for _ in range(MAXIMUM_CHAIN):
            more = {name for name, called in calls.items() if any(map(self._ends, called))}
            if more <= self._names:
                break
            self._names |= more

    def _ends(self, name: str) -> bool:
        is_unknown = name not in self._functions
        return name in self._names or (is_unknown and bool(_ENDING.fullmatch(name)))

    def is_demand(self, test: Tested) -> bool:
        """Return whether the script or function fails if the variable is empty."""
        if test.is_conditional:
            return False
        is_return = "return" in test.leads_to or ("return 0" in test.leads_to and not test.function)
        return is_return or any(map(self._ends, test.leads_to))

    def is_left(self, test: Tested) -> bool:
        """Return whether an empty value leaves the function, the loop or the script."""
        leaves = test.leads_to & {"return", "return 0", "continue", "break"}
        return bool(leaves) or any(map(self._ends, test.leads_to))
