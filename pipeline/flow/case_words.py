"""Descriptions of checks for models and pages: the scenario, the expectation and the result.

This module also decides which cases are held out from a refinement, to test whether it generalizes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from catalog.execution.cases import Case, CaseSet, State
from catalog.execution.cases.display import show
from catalog.execution.cases.world import World, WorldFile
from pipeline.flow.ports import CheckSeen, Executed

MOST_TOLD = 6  # checks
_LONGEST_LINE = 700
_MOST_FILES = 12
JUDGED = (State.PASSED, State.FAILED)
NOT_RUN = "Not run: "  # a resumed run parses the reason after this prefix


def held_back(case_set: CaseSet) -> frozenset[int]:
    """Return the numbers of the held-out cases: a third of the cases, but at least one. A single case is not held out.

    A hash of the statement and the title selects the cases, so fixing a case does not change whether it is held out.
    """
    if len(case_set.cases) < 2:
        return frozenset()
    numbers = range(1, len(case_set.cases) + 1)
    ranked = sorted(numbers, key=lambda number: _draw(case_set, number))
    return frozenset(ranked[: max(1, len(ranked) // 3)])


def _draw(case_set: CaseSet, number: int) -> str:
    told = f"{case_set.statement}\0{case_set.cases[number - 1].title}"
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def tell_checks(case_set: CaseSet, checks: Iterable[CheckSeen]) -> str:
    """Return three lines for each of the first `MOST_TOLD` checks: the scenario, the expectation and the result."""
    return "\n\n".join(
        f"{check.name} World: {_cut(describe_world(case_set.cases[check.case - 1]))}\n"
        f"Expected: the script {_cut(check.sentence)}\n"
        f"Happened: {_cut(check.got) or 'something else'}"
        for check in list(checks)[:MOST_TOLD]
    )


def describe_world(case: Case) -> str:
    """Describe the scenario of a case on one line."""
    world = case.world
    parts = [f"files {_list_files(world)}" if world.files else "no files"]
    if world.arguments:
        parts.append(f"arguments {' '.join(world.arguments)}")
    if world.environment:
        parts.append(" ".join(f"{name}={value}" for name, value in world.environment.items()))
    if world.stdin:
        parts.append(f"input {world.stdin}")
    for command, rules in world.commands.items():
        for rule in rules[:4]:
            call = " ".join((command, *(rule.args or ("**",))))
            parts.append(f"`{call}` ends with {rule.exit} and prints {rule.stdout or 'nothing'}")
    return f"{case.title}: {'; '.join(parts)}"


def say_executed(executed: Executed) -> str:
    """Return a line for each failed check, or the reason why nothing was run."""
    if executed.reason:
        return f"{NOT_RUN}{executed.reason}"
    judged, held = len(executed.of(*JUDGED)), len(executed.of(State.PASSED))
    others = len(executed.checks) - judged
    lines = [f"{held} of {judged} checks passed{f', {others} without a result' if others else ''}."]
    for check in executed.of(State.FAILED)[:MOST_TOLD]:
        title = show(executed.case_set.cases[check.case - 1].title)
        lines.append(f"{check.name} {title}: {check.sentence} – {check.got}")
    return "\n".join(lines)


def _list_files(world: World) -> str:
    shown = ", ".join(_say_file(file) for file in world.files[:_MOST_FILES])
    more = len(world.files) - _MOST_FILES
    return f"{shown} and {more} more" if more > 0 else shown


def _say_file(file: WorldFile) -> str:
    said = []
    if file.kind == "folder":
        said.append("a folder")
    if file.link is not None:
        said.append(f"a link to {file.link}")
    if file.size is not None:
        said.append(f"{file.size} bytes")
    if file.age is not None:
        said.append(f"changed {file.age} ago")
    if file.accessed is not None:
        said.append(f"read {file.accessed} ago")
    if file.mode is not None:
        said.append(f"mode {file.mode}")
    if file.content and len(file.content) > 1:
        said.append(f"reads {file.content}")
    return f"{file.path} ({', '.join(said)})" if said else file.path


def _cut(text: str) -> str:
    line = show(text).replace("\n", "\\n").replace("\t", "\\t")
    return line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]}…"
