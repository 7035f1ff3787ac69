"""Run the sandbox tests of a suite with a script and evaluate the results."""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, field, replace

from catalog.execution.cases import expressions
from catalog.execution.cases.case import Case, CaseRefused, CaseSet
from catalog.execution.cases.checks import Check, Seen
from catalog.execution.cases.dates import day_of
from catalog.execution.cases.display import show, show_name
from catalog.execution.cases.effects import find_effects
from catalog.execution.cases.outside import find_cause
from catalog.execution.cases.results import CaseResult, CheckResult, Execution, State
from catalog.execution.helper.messages import CommandRequest, FileRequest
from catalog.execution.sandbox import (
    Availability,
    Call,
    CannotBePrepared,
    Ended,
    Limits,
    Observation,
    PreparedRun,
    Sandbox,
    SandboxFailed,
)

_LIMIT_WORDS = {
    Ended.TIMED_OUT: "stopped after {0.seconds:g} seconds",
    Ended.TOO_MUCH_WORK: "stopped because it used more than {0.cpu_seconds} seconds of processor time",
    Ended.TOO_MUCH_OUTPUT: "stopped because it printed more than {0.output_bytes:,} bytes",
    Ended.TOO_MUCH_MEMORY: "stopped because it used more than {0.memory_bytes:,} bytes of memory",
}
# The time limit for all tests of a suite together, because other scripts are waiting for the sandbox.
MOST_SECONDS = 240.0
_TOO_LONG = "not run because the tests before it took {:.0f} seconds"


@dataclass(frozen=True, kw_only=True)
class Variation:
    """The differences between a run and its test. Variations are used to measure the quality of tests."""

    environment: dict[str, str] = field(default_factory=dict)
    cwd: str | None = None
    failing_call: int | None = None
    without_world: bool = False  # no files and no replies
    decoys: tuple[FileRequest, ...] = ()


AS_WRITTEN = Variation()


def run_case_set(
    case_set: CaseSet, script: str, availability: Availability, limits: Limits | None = None
) -> Execution:
    """Run every test with the script. Without a sandbox, every check is *not run*, with the reason.

    If the tests together take longer than MOST_SECONDS, the remaining tests are *timed out*.
    """
    begun = time.monotonic()

    def run_next(case: Case) -> CaseResult:
        sandbox, passed = availability.sandbox, time.monotonic() - begun
        if sandbox is None:
            case = case.on_day_of(time.time())
            return _all(case, State.NOT_RUN, f"{availability.reason} {availability.remedy}".strip())
        if passed > MOST_SECONDS:
            case = case.on_day_of(time.time())
            return _all(case, State.TIMED_OUT, _TOO_LONG.format(passed))
        return run_case(case, script, sandbox, limits=limits)

    cases = tuple(run_next(case) for case in case_set.cases)
    return Execution(
        script_sha256=hashlib.sha256(script.encode("utf-8", "surrogatepass")).hexdigest(),
        case_set_sha256=case_set.sha256,
        fingerprint=availability.fingerprint,
        cases=cases,
        seconds=time.monotonic() - begun,
    )


def run_case(
    case: Case,
    script: str,
    sandbox: Sandbox,
    variation: Variation = AS_WRITTEN,
    limits: Limits | None = None,
) -> CaseResult:
    """Run one test with the script and return its result. Failures are returned as states, not raised."""
    limits = limits or Limits()
    for _ in range(2):
        now = time.time()
        try:
            dated = case.with_dates(now)
        except CaseRefused as error:
            return _all(case, State.NOT_RUN, str(error))
        try:
            prepared = prepare_run(dated, script, variation, limits)
            observation = sandbox.run(prepared)
        except (SandboxFailed, CannotBePrepared) as error:
            return _all(dated, State.NOT_RUN, str(error))
        # Run the test again if the machine was short of memory, or if the dates were filled in for the previous day.
        if day_of(now) == day_of(time.time()) and not _was_short(observation):
            break
    return judge(dated, observation, limits, script)


def prepare_run(case: Case, script: str, variation: Variation, limits: Limits) -> PreparedRun:
    """Return the run that executes the script in the test's scenario. Raises CannotBePrepared."""
    world = case.world
    prepared = PreparedRun(
        script=script,
        arguments=world.arguments,
        stdin=world.stdin,
        environment={**world.environment, **variation.environment},
        cwd=variation.cwd or world.cwd,
        hostname=world.hostname,
        files=(*_working_folder(world.cwd), *(file.to_request() for file in world.files)),
        commands=world.list_commands(),
        states=dict(world.states),
        failing_call=variation.failing_call,
        processes=world.processes,
        proc=dict(world.proc),
        limits=limits,
        runs=2 if case.needs_second_run else 1,
    )
    if variation.without_world:
        commands = tuple(
            CommandRequest(name=command["name"], mode=command["mode"], rules=[])
            for command in prepared.commands
        )
        files = _working_folder(world.cwd)
        prepared = replace(prepared, files=files, commands=commands, processes=(), proc={})
    if variation.decoys:
        prepared = replace(prepared, files=(*prepared.files, *variation.decoys))
    return prepared


def judge(case: Case, observation: Observation, limits: Limits, script: str = "") -> CaseResult:
    """Return the result of each check. If a failure has a cause outside of the scenario, no check gets a verdict."""
    if _was_short(observation):
        return _all(case, State.NOT_RUN, "stopped because the machine was low on memory")
    for run in observation.runs:
        if run.ended is not Ended.FINISHED:
            words = _LIMIT_WORDS[run.ended].format(limits)
            return _all(case, State.TIMED_OUT, words, observation)
        missing = _find_missing(run.calls)
        if missing:
            return _all(case, State.UNSUPPORTED, missing, observation)
    if observation.cut is not None:
        return _all(
            case, State.UNSUPPORTED, f"the scenario then had {observation.cut}", observation
        )
    seen = _see(observation)
    checks = tuple(_judge_check(check, seen) for check in case.expect)
    if any(check.state is State.FAILED for check in checks):
        known = f"{script}\n{_texts_of(case)}"
        for run in observation.runs:
            cause = find_cause(run.stderr, known)
            if cause is not None:
                return _all(case, cause.state, cause.words, observation)
    return CaseResult(case.title, checks, observation)


def _texts_of(case: Case) -> str:
    """Return the scenario's file contents, input and stubbed replies as one text."""
    world = case.world
    said = [
        text
        for rules in world.commands.values()
        for one in rules
        for text in (one.stdout, one.stderr)
    ]
    return "\n".join([*said, world.stdin, *(file.content or "" for file in world.files)])


def _was_short(observation: Observation) -> bool:
    return any(run.ended is Ended.MACHINE_SHORT for run in observation.runs)


def _see(observation: Observation) -> Seen:
    first, *rest = observation.runs
    second = rest[0] if rest else None
    return Seen(
        first=first,
        effects=find_effects(observation.before, first.after),
        before=observation.before,
        second=second,
        second_effects=find_effects(first.after, second.after) if second else None,
        not_again=observation.not_again,
    )


def _judge_check(check: Check, seen: Seen) -> CheckResult:
    try:
        fault = check.find_fault(seen)
    except expressions.TooSlow:
        return CheckResult(check.sentence(), State.TIMED_OUT, "the pattern takes too long")
    except expressions.BadPattern as error:
        # A date that was filled in can make the pattern invalid.
        words = f"the pattern is invalid: {show(str(error))}"
        return CheckResult(check.sentence(), State.NOT_RUN, words)
    state = State.PASSED if fault is None else State.FAILED
    return CheckResult(check.sentence(), state, fault or "")


def _find_missing(calls: tuple[Call, ...]) -> str:
    for call in calls:
        if not call.prepared:
            return f"no stubbed reply for {show_name(str(call))}"
    return ""


def _working_folder(cwd: str) -> tuple[FileRequest, ...]:
    return () if cwd in ("/root", "/tmp", "/") else ({"path": cwd, "kind": "folder"},)


def _all(case: Case, state: State, got: str, observation: Observation | None = None) -> CaseResult:
    checks = tuple(CheckResult(check.sentence(), state, got) for check in case.expect)
    return CaseResult(case.title, checks, observation)
