"""Read rule files. Each rule has a message, and examples that are checked when the file is read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

from catalog.analysis.risk.effects import Code
from catalog.analysis.types import Level


class RuleError(ValueError):
    """A rule has no examples, or one of its examples contradicts it."""


@dataclass(frozen=True, slots=True)
class Block:
    """A rule as written in its file. rules.txt explains the format."""

    head: str
    code: Code
    level: Level
    message: str
    examples: tuple[tuple[bool, str], ...]  # whether the rule must match, and the example

    def check(self, source: str, fits: Callable[[str], bool]) -> None:
        """Raise RuleError, with the file and the rule, if an example is missing or wrong."""
        if {wanted for wanted, _ in self.examples} != {True, False}:
            raise RuleError(f"{source}: the rule {self.head!r} needs a line with + and one with -.")
        for wanted, example in self.examples:
            if fits(example) != wanted:
                verb = "should fit" if wanted else "should not fit"
                raise RuleError(f"{source}: the rule {self.head!r} {verb} {example!r}.")


def read_blocks(text: str) -> Iterator[Block]:
    """Yield the rules of a file, each with the code and level from the last line in brackets."""
    code, level = "mutating", "info"
    for block in re.split(r"\n(?=\S)", text):
        head, *lines = [line.strip() for line in block.splitlines() if line.strip()] or ["#"]
        if head.startswith("["):
            code, level = head.strip("[]").split()
        elif not head.startswith("#"):
            texts = [line for line in lines if not line.startswith(("+ ", "- "))]
            yield Block(
                head=head,
                code=cast(Code, code),
                level=Level(level),
                message=" ".join(text.removeprefix("instead: ") for text in texts),
                examples=tuple(
                    (line[0] == "+", example)
                    for line in lines
                    if line not in texts
                    for example in line[2:].split(" ; ")
                ),
            )
