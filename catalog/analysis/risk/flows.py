"""Track the output of commands through pipes, substitutions and variables."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from catalog.analysis.shell.command_words import Word
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.fragments import Unit
from catalog.analysis.shell.program import Program


class Flow:
    """The flow of output from labeled commands to other commands. `labels` maps command ids to labels."""

    def __init__(self, program: Program, labels: Mapping[int, str]) -> None:
        self._program = program
        self._labels = labels
        # The position of the first labeled command in each pipeline.
        self._places: dict[tuple[Unit, int], tuple[int, str]] = {}
        for command in program.commands if labels else ():
            if label := labels.get(id(command)):
                for unit, start, place in command.context.pipes:
                    first = self._places.setdefault((unit, start), (place, label))
                    self._places[unit, start] = min(first, (place, label), key=lambda one: one[0])

    @cached_property
    def variables(self) -> dict[str, str]:
        """Return the labels of variables that contain the output of a labeled command, by variable name."""
        return {
            assignment.name: label
            for assignment in self._program.assignments
            for word in assignment.values
            if (label := self.inside(word))
        }

    def inside(self, word: Word) -> str | None:
        """Return the label of a command in the word's substitutions."""
        found = self._program.inside(word) if self._labels and word.outputs else ()
        return next((self._labels[id(one)] for one in found if id(one) in self._labels), None)

    def reaches(self, word: Word) -> str | None:
        """Return the label of a command in the word's substitutions or in the values of its variables."""
        names = (variable.name for variable in word.variables)
        by_name = (self.variables[name] for name in names if name in self.variables)
        return self.inside(word) or next(by_name, None)

    def feeds(self, command: Command) -> str | None:
        """Return the label of a command that precedes this command in a pipeline."""
        for unit, start, place in command.context.pipes:
            first, label = self._places.get((unit, start), (place, ""))
            if first < place:
                return label
        return None
