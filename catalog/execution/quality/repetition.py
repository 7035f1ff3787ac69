"""Repeats each check unchanged and in equivalent environments; a check whose verdict varies is unstable."""

from __future__ import annotations

from dataclasses import dataclass, replace

from catalog.execution.cases import Case, CaseResult, CaseSet, Execution, State, Variation, run_case
from catalog.execution.cases.results import CheckResult
from catalog.execution.cases.world import World
from catalog.execution.sandbox import Limits, Sandbox

_AGAIN = "when run again"
_ELSEWHERE = Variation(cwd="/srv")
_OTHER_LANGUAGE = Variation(environment={"LC_ALL": "C"})
_OTHER_ZONE = Variation(environment={"TZ": "Pacific/Kiritimati"})


@dataclass(frozen=True)
class Unstable:
    """A check whose verdict varied, and what was different in that run."""

    position: int
    under: str


def repeat(
    case_set: CaseSet,
    script: str,
    execution: Execution,
    sandbox: Sandbox,
    limits: Limits | None = None,
) -> Execution:
    """The execution without verdicts of checks that are judged differently when the script is run again.

    One more run for each case changes everything that the case leaves open at once. Only if a verdict changes, one
    more run for each of these things finds out which one it was.
    """
    limits = limits or Limits()
    cases = tuple(
        result
        if result.state is State.NOT_RUN
        else _mark(result, _find_unstable(case, script, result, sandbox, limits))
        for case, result in zip(case_set.cases, execution.cases, strict=True)
    )
    return replace(execution, cases=cases)


def _find_unstable(
    case: Case, script: str, result: CaseResult, sandbox: Sandbox, limits: Limits
) -> tuple[Unstable, ...]:
    """Checks with another verdict in another run; what the case itself specifies stays as it is."""

    def changed(variation: Variation) -> list[int]:
        again = run_case(case, script, sandbox, variation, limits).verdicts
        return [
            position
            for position, pair in enumerate(zip(result.verdicts, again, strict=True))
            # That a limit ended one of them tells of the machine, on which others are at work as well.
            if pair[0] is not pair[1] and not {State.NOT_RUN, State.TIMED_OUT} & set(pair)
        ]

    variations = _variations(case)
    environment = {
        name: value for _under, one in variations for name, value in one.environment.items()
    }
    cwd = next((one.cwd for _under, one in variations if one.cwd is not None), None)
    positions = changed(Variation(cwd=cwd, environment=environment))
    if not positions:
        return ()
    found: dict[int, Unstable] = {}
    for under, variation in variations:
        for position in changed(variation):
            found.setdefault(position, Unstable(position, under))
    for position in positions:
        found.setdefault(position, Unstable(position, _AGAIN))
    return tuple(found.values())


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
    """What the case leaves open: not the working folder if it names one, not the time zone if it names a date."""
    written = case.model_dump_json(by_alias=True)
    chosen = case.world.environment
    variations = [(_AGAIN, Variation())]
    if not _names_folder(case.world):
        variations.append(("in another folder", _ELSEWHERE))
    if not chosen.keys() & {"LANG", "LC_ALL"}:
        variations.append(("in another language", _OTHER_LANGUAGE))
    if "TZ" not in chosen and "{date:" not in written:
        variations.append(("in another time zone", _OTHER_ZONE))
    return variations


def _names_folder(world: World) -> bool:
    """Whether its author says where the script begins; where every field is kept, an earlier release wrote them out."""
    names = world.model_fields_set
    return world.cwd != World().cwd or ("cwd" in names and names != World.model_fields.keys())
