"""Checks of the files after a run."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
    model_validator,
)

from catalog.execution.cases import expressions
from catalog.execution.cases.checks.base import (
    BaseCheck,
    Paths,
    Seen,
    SomeText,
    Text,
    WorldPath,
    split_lines,
)
from catalog.execution.cases.display import show_list, show_name
from catalog.execution.cases.personas import only_reads


class _PathsCheck(BaseCheck):
    """A check that the affected paths are exactly the given paths, or include the given paths."""

    verb: ClassVar[str]
    exactly: Paths | None = None
    includes: Paths | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> _PathsCheck:
        if (self.exactly is None) == (self.includes is None):
            raise ValueError("specify either exactly or includes")
        if self.includes == ():
            raise ValueError("includes is empty, so the check can never fail")
        return self

    def sentence(self) -> str:
        if self.exactly == ():
            return f"{self.verb} no files"
        if self.exactly is not None:
            return f"{self.verb} exactly {show_list(self.exactly)}"
        return f"{self.verb} at least {show_list(self.includes or ())}"

    def find_fault(self, seen: Seen) -> str | None:
        found = self._found(seen)
        wanted = self.exactly if self.exactly is not None else self.includes or ()
        missing = [path for path in wanted if path not in found]
        extra = [path for path in found if path not in wanted and not self._follows(path, seen)]
        if missing:
            return f"missing: {show_list(missing)}; actual: {show_list(found)}"
        if extra and self.exactly is not None:
            return f"unexpected: {show_list(extra)}"
        return None

    def _found(self, seen: Seen) -> tuple[str, ...]:
        raise NotImplementedError

    def _follows(self, path: str, seen: Seen) -> bool:
        """Return whether a change to this path is part of an expected change."""
        return False


class Removed(_PathsCheck):
    """The paths that the script removes. The contents of a removed folder need not be listed."""

    verb: ClassVar = "removes"
    check: Literal["removed"]

    def _found(self, seen: Seen) -> tuple[str, ...]:
        return seen.effects.removed

    def _follows(self, path: str, seen: Seen) -> bool:
        return any(path.startswith(f"{folder}/") for folder in self.exactly or ())


class Added(_PathsCheck):
    """The paths that the script adds. New parent folders need not be listed."""

    verb: ClassVar = "adds"
    check: Literal["added"]

    def _found(self, seen: Seen) -> tuple[str, ...]:
        return seen.effects.added

    def _follows(self, path: str, seen: Seen) -> bool:
        return seen.first.after[path].kind == "folder" and any(
            wanted.startswith(f"{path}/") for wanted in self.exactly or ()
        )


class Changed(_PathsCheck):
    verb: ClassVar = "changes the content, mode or target of"
    check: Literal["changed"]

    def _found(self, seen: Seen) -> tuple[str, ...]:
        return seen.effects.changed


class Touched(_PathsCheck):
    verb: ClassVar = "changes only the timestamp of"
    check: Literal["touched"]

    def _found(self, seen: Seen) -> tuple[str, ...]:
        return seen.effects.touched


class Content(BaseCheck):
    """The content of a file after the run."""

    check: Literal["content"]
    path: WorldPath
    equals: Text | None = None
    lines: Annotated[tuple[Text, ...], Field(max_length=500)] | None = None
    matches: (
        Annotated[SomeText, StringConstraints(max_length=expressions.LONGEST_PATTERN)] | None
    ) = None
    lacks: SomeText | None = None

    @model_validator(mode="after")
    def _one_of_them(self) -> Content:
        given = (self.equals, self.lines, self.matches, self.lacks)
        if sum(one is not None for one in given) != 1:
            raise ValueError("specify exactly one of equals, lines, matches and lacks")
        return self

    @model_serializer(mode="wrap")
    def _without_what_came_later(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit `lacks` if it is None, so that older tests keep their hash."""
        data: dict[str, Any] = write(self)
        if self.lacks is None:
            data.pop("lacks", None)
        return data

    def sentence(self) -> str:
        name = show_name(self.path)
        if self.equals is not None:
            return f"leaves {name} containing exactly {show_name(self.equals)}"
        if self.lines is not None:
            return f"leaves {name} containing exactly the lines {show_list(self.lines)}"
        if self.lacks is not None:
            return f"leaves {name} in place without {show_name(self.lacks)}"
        return f"leaves {name} containing a match of {show_name(self.matches or '')}"

    def find_fault(self, seen: Seen) -> str | None:
        entry = seen.first.after.get(self.path)
        if entry is None or entry.kind != "file":
            return "the path does not exist" if entry is None else f"actual type: {entry.kind}"
        if entry.content is None:
            return f"the file is too large to compare ({entry.size:,} bytes)"
        if self.equals is not None:
            holds = entry.content == self.equals
        elif self.lines is not None:
            holds = tuple(split_lines(entry.content)) == self.lines
        elif self.lacks is not None:
            holds = self.lacks not in entry.content
        else:
            holds = expressions.search(self.matches or "", entry.content)
        return None if holds else f"actual content: {show_name(entry.content)}"


class Mode(BaseCheck):
    check: Literal["mode"]
    path: WorldPath
    equals: Annotated[str, StringConstraints(pattern=r"^[0-7]{3,4}$")]

    def sentence(self) -> str:
        return f"leaves {show_name(self.path)} with mode {self.equals.zfill(4)}"

    def find_fault(self, seen: Seen) -> str | None:
        entry = seen.first.after.get(self.path)
        if entry is None:
            return "the path does not exist"
        return None if entry.mode == int(self.equals, 8) else f"actual mode: {entry.mode:04o}"


class Link(BaseCheck):
    check: Literal["link"]
    path: WorldPath
    target: SomeText

    def sentence(self) -> str:
        return f"leaves {show_name(self.path)} as a link to {show_name(self.target)}"

    def find_fault(self, seen: Seen) -> str | None:
        entry = seen.first.after.get(self.path)
        if entry is None or entry.kind != "link":
            return "the path does not exist" if entry is None else f"actual type: {entry.kind}"
        return (
            None
            if entry.target == self.target
            else f"actual target: {show_name(entry.target or '')}"
        )


class NoEffect(BaseCheck):
    check: Literal["no_effect"]

    def sentence(self) -> str:
        return "changes no files and makes no calls that modify state"

    def find_fault(self, seen: Seen) -> str | None:
        if seen.effects:
            return f"affected files: {show_list(seen.effects.paths)}"
        calls = [
            str(call)
            for call in seen.first.calls
            if not (call.reads or only_reads(call.command, call.arguments))
        ]
        return f"calls that may modify state: {show_list(calls)}" if calls else None
