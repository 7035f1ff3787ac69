"""Repeat each check in the same and in equivalent environments. A check with varying results is unstable."""

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
    """A check whose result varied, and the difference between the runs."""

    position: int
    under: str


def repeat(
    case_set: CaseSet,
    script: str,
    execution: Execution,
    sandbox: Sandbox,
    limits: Limits | None = None,
) -> Execution:
    """Return the execution with checks marked as unstable if their results vary between runs.

    One additional run per test changes everything that the test does not specify. If a result differs, one more run per
    change identifies the cause.
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
    """Return the checks whose results differ in runs that vary only what the test does not specify."""

    def changed(variation: Variation) -> list[int]:
        again = run_case(case, script, sandbox, variation, limits).verdicts
        return [
            position
            for position, pair in enumerate(zip(result.verdicts, again, strict=True))
            # Ignore runs that ended at a limit, because other load on the machine can cause this.
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
        CheckResult(check.sentence, State.UNSTABLE, f"different result {under[position]}")
        if position in under
        else check
        for position, check in enumerate(case.checks)
    )
    return replace(case, checks=checks)


def _variations(case: Case) -> list[tuple[str, Variation]]:
    """Return the variations that the test allows. A test may set its own working folder, language or time zone."""
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
    """Return whether the author chose the working folder. Earlier releases stored all fields of a World."""
    names = world.model_fields_set
    return world.cwd != World().cwd or ("cwd" in names and names != World.model_fields.keys())
