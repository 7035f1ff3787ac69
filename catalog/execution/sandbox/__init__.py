"""Run a script in an isolated scenario, or report why this is not possible. Scripts never run without isolation.

`find_sandbox` probes the sandbox with a real test. A sandbox takes a `PreparedRun` and returns an `Observation`. If
it raises SandboxFailed, nothing is known about the script, and the state is *not run*. The package does not access
the database.
"""

from __future__ import annotations

from catalog.execution.sandbox.probe import Availability, Fingerprint, find_sandbox, probe
from catalog.execution.sandbox.types import (
    Call,
    CannotBePrepared,
    Ended,
    Entry,
    Limits,
    Observation,
    PreparedRun,
    RunObservation,
    Sandbox,
    SandboxFailed,
)

__all__ = [
    "Availability",
    "Call",
    "CannotBePrepared",
    "Ended",
    "Entry",
    "Fingerprint",
    "Limits",
    "Observation",
    "PreparedRun",
    "RunObservation",
    "Sandbox",
    "SandboxFailed",
    "find_sandbox",
    "probe",
]
