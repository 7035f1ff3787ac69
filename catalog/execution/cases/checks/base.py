"""The common parts of all checks. A check is data: it contains no code and never reads the script's text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from catalog.execution.cases.effects import Effects
from catalog.execution.helper.recorded_commands.patterns import ANY_NUMBER, match_arguments
from catalog.execution.helper.world import WorldRefused, split_path
from catalog.execution.sandbox import Call, Entry, RunObservation

LONGEST_EXPECTED = 20_000


def _refuse_nul(text: str) -> str:
    if "\0" in text:
        raise ValueError("texts must not contain NUL bytes")
    return text


def _refuse_path(path: str) -> str:
    try:
        split_path(path)
    except WorldRefused as error:
        raise ValueError(str(error)) from error
    if "\n" in path:
        raise ValueError("paths must not contain line breaks; such file names are tried as decoys")
    return path


Text = Annotated[str, StringConstraints(max_length=LONGEST_EXPECTED), AfterValidator(_refuse_nul)]
SomeText = Annotated[
    str,
    StringConstraints(min_length=1, max_length=LONGEST_EXPECTED),
    AfterValidator(_refuse_nul),
]
WorldPath = Annotated[str, StringConstraints(max_length=1000), AfterValidator(_refuse_path)]
Paths = Annotated[tuple[WorldPath, ...], Field(max_length=200)]


def split_lines(text: str) -> list[str]:
    """Return the lines of the text without their line feeds, including an unterminated last line."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


class Strict(BaseModel):
    """An immutable model that accepts only its own fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


@dataclass(frozen=True)
class Seen:
    """The input of a check: the first run and, if requested, the second run."""

    first: RunObservation
    effects: Effects
    before: Mapping[str, Entry]
    second: RunObservation | None = None
    second_effects: Effects | None = None
    not_again: str | None = None  # why there was no second run


class BaseCheck(Strict):
    """The base class of checks. Subclasses define a `check` name, a sentence and a description of a failure."""

    @property
    def parts(self) -> tuple[BaseCheck, ...]:
        """Return the parts of a combined check. A single check returns only itself."""
        return (self,)

    @property
    def needs_second_run(self) -> bool:
        return False

    @property
    def calls(self) -> tuple[CallPattern, ...]:
        """Return the patterns of stubbed calls that the check uses."""
        return ()

    def sentence(self) -> str:
        """Return the condition as a sentence without its subject ("the script")."""
        raise NotImplementedError

    def find_fault(self, seen: Seen) -> str | None:
        """Return a description of the actual result, or None if the check passes."""
        raise NotImplementedError


class CallPattern(Strict):
    """Calls to one command. Without `args`, any call matches. A final "**" matches any number of arguments."""

    command: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,60}$")]
    args: Annotated[tuple[Text, ...], Field(max_length=50)] | None = None

    def fits(self, call: Call) -> bool:
        return call.command == self.command and match_arguments(
            self.args if self.args is not None else (ANY_NUMBER,), call.arguments
        )

    def __str__(self) -> str:
        return " ".join((self.command, *(self.args or ())))
