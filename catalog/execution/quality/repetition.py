"""The same again, and where nothing that the statement names is different: another verdict is none."""

from __future__ import annotations

from dataclasses import dataclass, replace

from catalog.execution.cases import Case, CaseResult, Execution, State, Variation, run_case
from catalog.execution.cases.results import CheckResult
from catalog.execution.cases.world import World
from catalog.execution.sandbox import Limits, Sandbox

_ELSEWHERE = Variation(cwd="/srv")
_OTHER_LANGUAGE = Variation(environment={"LC_ALL": "C"})
_OTHER_ZONE = Variation(environment={"TZ": "Pacific/Kiritimati"})


@dataclass(frozen=True)
class Unstable:
    """A check that was judged differently, and what was different."""

    position: int
    under: str


def find_unstable(
    case: Case, script: str, result: CaseResult, sandbox: Sandbox, limits: Limits
) -> tuple[Unstable, ...]:
    """Checks with another verdict in another run; the case's own choices are left as they are."""
    found: dict[int, Unstable] = {}
    for under, variation in _variations(case):
        again = run_case(case, script, sandbox, variation, limits).verdicts
        for position, (first, second) in enumerate(zip(result.verdicts, again, strict=True)):
            if first is not second and State.NOT_RUN not in (first, second):
                found.setdefault(position, Unstable(position, under))
    return tuple(found.values())


def mark_unstable(execution: Execution, found: dict[int, tuple[Unstable, ...]]) -> Execution:
    """The execution with these checks, by the position of their case, out of the figures."""
    cases = tuple(
        _mark(case, found.get(position, ())) for position, case in enumerate(execution.cases)
    )
    return replace(execution, cases=cases)


def _mark(case: CaseResult, found: tuple[Unstable, ...]) -> CaseResult:
    under = {unstable.position: unstable.under for unstable in found}
    checks = tuple(
        CheckResult(check.sentence, State.UNSTABLE, f"another verdict {under[position]}")
        if position in under
        else check
        for position, check in enumerate(case.checks)
    )
    return replace(case, checks=checks)


def _variations(case: Case) -> list[tuple[str, Variation]]:
    """A case that names its folder means it, and one that names a date means that of UTC."""
    written = case.model_dump_json(by_alias=True)
    chosen = case.world.environment
    variations = [("when run again", Variation())]
    if case.world.cwd == World().cwd:
        variations.append(("in another folder", _ELSEWHERE))
    if not chosen.keys() & {"LANG", "LC_ALL"}:
        variations.append(("in another language", _OTHER_LANGUAGE))
    if "TZ" not in chosen and "{date:" not in written:
        variations.append(("in another time zone", _OTHER_ZONE))
    return variations
