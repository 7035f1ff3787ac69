"""Compare the findings of two scripts to find new and removed findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import NamedTuple


class Placed(NamedTuple):
    """The parts of a finding that are compared."""

    check: str
    code: str
    message: str
    text: str = ""  # the text of its line, without surrounding whitespace

    @staticmethod
    def text_of(lines: Sequence[str], line: object) -> str:
        """Return the text of a line, or "" if the line does not exist. Line numbers start at 1."""
        return lines[line - 1].strip() if isinstance(line, int) and 0 < line <= len(lines) else ""


def new_and_gone(before: Sequence[Placed], after: Sequence[Placed]) -> tuple[set[int], set[int]]:
    """Return the indexes of new findings in `after`, and the indexes of removed findings in `before`.

    Findings with the same rule and line text are paired first, because lines move. Of the remaining findings, those
    with the same rule and message are paired, because lines are edited. Equal findings are paired in order.
    """
    gone, new = list(range(len(before))), list(range(len(after)))
    alike: tuple[Callable[[Placed], Hashable], ...] = (
        lambda one: (one.check, one.code, one.text, one.message),
        lambda one: (one.check, one.code, one.text),
        lambda one: (one.check, one.code, one.message),
    )
    for key in alike:
        gone, new = _unpaired((before, gone), (after, new), key)
    return set(new), set(gone)


def _unpaired(
    old: tuple[Sequence[Placed], Iterable[int]],
    new: tuple[Sequence[Placed], Iterable[int]],
    key: Callable[[Placed], Hashable],
) -> tuple[list[int], list[int]]:
    waiting: dict[Hashable, list[int]] = defaultdict(list)
    for index in old[1]:
        waiting[key(old[0][index])].append(index)
    left = []
    for index in new[1]:
        if found := waiting[key(new[0][index])]:
            found.pop(0)
        else:
            left.append(index)
    return sorted(index for rest in waiting.values() for index in rest), left
