"""Measure the quality of a test suite with one script, and describe it in figures, lists and one sentence."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from catalog.execution.cases import Case, CaseSet, Execution, State, Variation, run_case
from catalog.execution.quality.decoys import try_decoys
from catalog.execution.quality.failing_calls import FailingCall, try_failing_calls
from catalog.execution.quality.mutations import MOST_MUTANTS, make_mutants
from catalog.execution.quality.null_scripts import try_null_scripts
from catalog.execution.sandbox import Limits, Observation, PreparedRun, Sandbox

MOST_SECONDS = 600.0  # seconds per test suite; most suites take about ten

# The real systems that stubbed commands replace. A script that calls the stubs was not tested with the real systems.
_STANDS_FOR = {
    "network": (
        "curl", "wget", "ssh", "scp", "sftp", "rsync", "dig", "host", "nslookup", "ping",
        "traceroute", "nc", "aws", "gcloud", "mail", "sendmail",
    ),
    "real systemd": ("systemctl", "service", "journalctl", "hostnamectl", "timedatectl"),
    "real containers": ("docker", "podman", "kubectl", "crictl", "helm"),
    "real databases": (
        "psql", "pg_dump", "pg_isready", "mysql", "mysqldump", "mysqladmin", "redis-cli",
    ),
    "real packages": ("apt", "apt-get", "apt-cache", "apt-mark", "dnf", "yum"),
    "real disks": (
        "mount", "umount", "df", "lsblk", "blkid", "findmnt", "fdisk", "lvs", "lvextend",
        "resize2fs", "swapoff", "swapon", "vgs",
    ),
    "other users": ("sudo", "doas", "su", "runuser", "chown", "chgrp"),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Quality:
    """The errors that the tests do not catch, and the script's behavior in unusual situations."""

    mutants: int
    survivors: tuple[str, ...]  # mutations that no test catches
    # Mutations for which no check fails but at least one check has no result, because of a limit or a missing part of
    # the scenario.
    without_verdict: tuple[str, ...]
    pass_without_work: tuple[str, ...]  # titles of tests that a script passes by doing nothing
    guards: tuple[str, ...]  # titles of tests in which doing nothing is correct
    never_failing: tuple[str, ...]  # sentences of checks that all null scripts pass
    not_about_the_world: tuple[str, ...]  # sentences of checks that also pass in an empty scenario
    failing_calls: tuple[FailingCall, ...]
    robustness: tuple[str, ...]
    not_tried: tuple[str, ...]

    @property
    def noticed(self) -> int:
        """Return the number of mutations for which at least one check fails."""
        return self.mutants - len(self.survivors) - len(self.without_verdict)


def measure_quality(
    case_set: CaseSet,
    script: str,
    execution: Execution,
    sandbox: Sandbox,
    limits: Limits | None = None,
    most_mutants: int = MOST_MUTANTS,
    before_each: Callable[[], None] = lambda: None,
) -> Quality | None:
    """Measure the quality of the tests of this execution, with about 10 runs per test plus the mutants.

    Mutants run only in tests that the script passes, because other tests already fail. Returns None after MOST_SECONDS.
    `before_each` is called before each run, and its time is not included.
    """
    timed = _TimedSandbox(sandbox, before_each)
    try:
        return _measure(case_set, script, execution, timed, limits, most_mutants)
    except _TooLong:
        return None


class _TooLong(Exception):
    """The time limit for measuring one test suite has passed."""


class _TimedSandbox:
    """A sandbox that raises _TooLong after the time limit has passed."""

    def __init__(self, sandbox: Sandbox, before_each: Callable[[], None]) -> None:
        self.name = sandbox.name
        self._sandbox = sandbox
        self._before_each = before_each
        self._left = MOST_SECONDS

    def run(self, prepared: PreparedRun) -> Observation:
        self._before_each()
        if self._left <= 0:
            raise _TooLong
        begun = time.monotonic()
        try:
            return self._sandbox.run(prepared)
        finally:
            self._left -= time.monotonic() - begun


def _measure(
    case_set: CaseSet,
    script: str,
    execution: Execution,
    sandbox: Sandbox,
    limits: Limits | None,
    most_mutants: int,
) -> Quality:
    limits = limits or Limits()
    failing: list[FailingCall] = []
    without_work: list[str] = []
    guards: list[str] = []
    never_failing: list[str] = []
    not_about: list[str] = []
    robustness: list[str] = []
    for case, result in zip(case_set.cases, execution.cases, strict=True):
        if result.state is State.NOT_RUN:
            continue
        null = try_null_scripts(case, sandbox, limits)
        if null.passes_without_work:
            (guards if case.may_pass_without_work else without_work).append(case.title)
        sentences = [check.sentence for check in result.checks]
        never_failing += [_in(case.title, sentences[index]) for index in null.never_failing]
        empty = run_case(case, script, sandbox, Variation(without_world=True), limits)
        not_about += [
            _in(case.title, check.sentence)
            for check, again in zip(result.checks, empty.checks, strict=True)
            if check.state is again.state is State.PASSED
        ]
        failing += try_failing_calls(case, script, result, sandbox, limits)
        robustness += try_decoys(case, script, result, sandbox, limits)
    mutants = _try_mutants(case_set, script, execution, sandbox, limits, most_mutants)
    return Quality(
        mutants=len(mutants),
        survivors=tuple(words for words, state in mutants if state is State.PASSED),
        without_verdict=tuple(words for words, state in mutants if state is State.UNSUPPORTED),
        pass_without_work=tuple(without_work),
        guards=tuple(guards),
        never_failing=tuple(dict.fromkeys(never_failing)),
        not_about_the_world=tuple(dict.fromkeys(not_about)),
        failing_calls=tuple(dict.fromkeys(failing)),
        robustness=tuple(dict.fromkeys(robustness)),
        not_tried=find_not_tried(execution),
    )


def find_not_tried(execution: Execution) -> tuple[str, ...]:
    """Return the real systems that were not tested, because the script called stubbed commands."""
    called = {
        call.command
        for case in execution.cases
        if case.observation is not None
        for call in case.observation.runs[0].calls
    }
    return tuple(what for what, commands in _STANDS_FOR.items() if called & set(commands))


def describe(execution: Execution, quality: Quality | None = None) -> str:
    """Return a one-line summary of the results. With `quality`, the summary includes the quality of the tests."""
    judged = execution.count(State.PASSED, State.FAILED)
    if not judged:
        states = dict.fromkeys(check.state for case in execution.cases for check in case.checks)
        return f"All checks were inconclusive: {_join(state.value for state in states)}."
    worlds = sum(
        any(check.state in (State.PASSED, State.FAILED) for check in case.checks)
        for case in execution.cases
    )
    parts = [
        f"{execution.count(State.PASSED)} of {_count(judged, 'check')} passed in"
        f" {_count(worlds, 'scenario')}"
    ]
    for state in (State.UNSTABLE, State.UNSUPPORTED, State.TIMED_OUT, State.NOT_RUN):
        if execution.count(state):
            parts.append(f"{execution.count(state)} {state.value}")
    line = f"{'; '.join(parts)}."
    return add_quality(line, quality) if quality is not None else line


def add_quality(line: str, quality: Quality) -> str:
    """Return the summary line with the quality of the tests added."""
    errors = _count(quality.mutants, "mutation")
    parts = [
        f"the tests catch {quality.noticed} of {errors}"
        if quality.mutants
        else "no mutations to try"
    ]
    if quality.without_verdict:
        parts.append(f"{len(quality.without_verdict)} of them are inconclusive")
    if quality.not_tried:
        parts.append(f"not covered: {_join(quality.not_tried)}")
    return f"{'; '.join([line.removesuffix('.'), *parts])}."


def _try_mutants(
    case_set: CaseSet,
    script: str,
    execution: Execution,
    sandbox: Sandbox,
    limits: Limits,
    most: int,
) -> list[tuple[str, State]]:
    """Return each mutation and its result in the tests that the script passes.

    The result is FAILED if a check fails, UNSUPPORTED if no check fails but one has no result, and PASSED otherwise.
    """
    passed = [
        case
        for case, result in zip(case_set.cases, execution.cases, strict=True)
        if result.state is State.PASSED
    ]
    if not passed:
        return []
    return [
        (mutant.words, _try_mutant(mutant.script, passed, sandbox, limits))
        for mutant in make_mutants(script, most)
    ]


def _try_mutant(script: str, cases: Sequence[Case], sandbox: Sandbox, limits: Limits) -> State:
    """Return the result of one mutant. A mutant counts as caught only if a check fails, as in the studies' figures."""
    answer = State.PASSED
    for case in cases:
        verdicts = run_case(case, script, sandbox, limits=limits).verdicts
        if State.FAILED in verdicts:
            return State.FAILED
        if set(verdicts) != {State.PASSED}:
            answer = State.UNSUPPORTED
    return answer


def _in(title: str, sentence: str) -> str:
    return f"{title}: {sentence}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _join(words: Iterable[str]) -> str:
    return ", ".join(words)
