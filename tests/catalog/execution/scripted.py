"""A sandbox that runs nothing and returns observations that a test defines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from catalog.execution.sandbox import (
    Availability,
    Ended,
    Entry,
    Fingerprint,
    Observation,
    PreparedRun,
    RunObservation,
    SandboxFailed,
)

HERE = Fingerprint({"bash": "5.2.15"})


def run_seen(**seen: Any) -> RunObservation:
    """Return a run that exited with status 0 and changed nothing. `seen` replaces these values."""
    values: dict[str, Any] = {
        "ended": Ended.FINISHED,
        "status": 0,
        "stdout": "",
        "stderr": "",
        "seconds": 0.01,
        "peak_memory": 0,
        "processes_seen": 1,
        "calls": (),
        "after": {},
    }
    return RunObservation(**{**values, **seen})


def world_seen(*runs: RunObservation, before: Mapping[str, Entry] | None = None) -> Observation:
    return Observation(started=0.0, before=before or {}, runs=runs, cut=None, seconds={})


class ScriptedSandbox:
    """A sandbox that calls a function for each run. The function may raise SandboxFailed."""

    name = "bubblewrap"

    def __init__(self, answer: Callable[[PreparedRun], Observation]) -> None:
        self._answer = answer

    def run(self, prepared: PreparedRun) -> Observation:
        return self._answer(prepared)


def on_machine(answer: Callable[[PreparedRun], Observation]) -> Availability:
    return Availability(sandbox=ScriptedSandbox(answer), fingerprint=HERE)


def failing_in(argument: str, *, status: int = 0) -> Availability:
    """Return a sandbox that fails for this first argument. All other scripts exit with this status."""

    def answer(prepared: PreparedRun) -> Observation:
        if argument in prepared.arguments:
            raise SandboxFailed("the helper did not answer")
        return world_seen(run_seen(status=status))

    return on_machine(answer)
