"""Reject checks that can never fail, and invalid patterns, when tests are saved."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from catalog.execution.cases.checks import BaseCheck, Content
from catalog.execution.cases.display import show, show_name
from catalog.execution.cases.expressions import BadPattern, TooSlow, find_never_failing
from catalog.execution.cases.personas import load_personas


def find_unrecorded(checks: Iterable[BaseCheck], recorded: Collection[str]) -> Iterator[str]:
    """Yield complaints about checks of calls to commands that are not stubbed, because such calls are never
    recorded.
    """
    for check in checks:
        for part in check.parts:
            for call in part.calls:
                if call.command not in recorded and call.command not in load_personas():
                    yield (
                        f"{show(check.sentence())}: calls of {show_name(call.command)} are not recorded. Add it to"
                        " the world's commands, or check the files instead."
                    )


def find_bad_pattern(checks: Iterable[BaseCheck]) -> str | None:
    """Return the complaint about the first pattern that is invalid, too slow or matches any text."""
    patterns = [
        part.matches
        for check in checks
        for part in check.parts
        if isinstance(part, Content) and part.matches is not None
    ]
    if not patterns:
        return None
    try:
        never_failing = find_never_failing(patterns)
    except BadPattern as error:
        return f"A pattern is invalid: {show(str(error))}."
    except TooSlow as error:
        return f"The pattern {show(str(error))} takes too long."
    if never_failing:
        return (
            f"The pattern {show(never_failing[0])} matches any text, so the check can never fail."
        )
    return None
