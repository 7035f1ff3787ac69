"""Runs a script confined in a prepared world, or says why it cannot; never unconfined. Pure.

`find_sandbox` probes with a real case. A sandbox takes a `PreparedRun` and gives an `Observation`; where it
raises SandboxFailed nothing is known about the script, and the state is *not run*.
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
