"""Convert an execution to a plain-text JSON document for the command line, exports and storage."""

from __future__ import annotations

from typing import Any

from catalog.execution.cases import CaseResult, Execution, State, find_effects
from catalog.execution.cases.display import show
from catalog.execution.quality.report import Quality, describe


def as_document(execution: Execution, quality: Quality | None = None) -> dict[str, Any]:
    """Return all results as a JSON document. Invisible characters are written as code points."""
    fingerprint = execution.fingerprint
    return {
        "script_sha256": execution.script_sha256,
        "case_set_sha256": execution.case_set_sha256,
        "fingerprint": dict(fingerprint.parts) if fingerprint is not None else None,
        "sentence": describe(execution, quality),
        "checks": {state.value: execution.count(state) for state in State},
        "cases": [_case(case) for case in execution.cases],
        "quality": quality_document(quality) if quality is not None else None,
        "seconds": round(execution.seconds, 3),
    }


def _case(case: CaseResult) -> dict[str, Any]:
    return {
        "title": show(case.title),
        "state": case.state.value,
        "checks": [
            {"sentence": check.sentence, "state": check.state.value, "got": check.got}
            for check in case.checks
        ],
        "seen": _seen(case),
    }


def _seen(case: CaseResult) -> dict[str, Any] | None:
    if case.observation is None:
        return None
    run = case.observation.runs[0]
    effects = find_effects(case.observation.before, run.after)
    return {
        "ended": run.ended.value,
        "status": run.status,
        "stdout": show(run.stdout),
        "stderr": show(run.stderr),
        "removed": [show(path) for path in effects.removed],
        "added": [show(path) for path in effects.added],
        "changed": [show(path) for path in effects.changed],
        "touched": [show(path) for path in effects.touched],
        "calls": [[show(word) for word in (call.command, *call.arguments)] for call in run.calls],
        "seconds": round(run.seconds, 3),
        "peak_memory": run.peak_memory,
    }


def quality_document(quality: Quality) -> dict[str, Any]:
    """Return the document's section about the quality of the tests."""
    return {
        "small_errors": quality.mutants,
        "noticed": quality.noticed,
        "not_noticed": list(quality.survivors),
        "without_verdict": list(quality.without_verdict),
        "pass_without_work": list(quality.pass_without_work),
        "guards": list(quality.guards),
        "never_failing": list(quality.never_failing),
        "not_about_the_world": list(quality.not_about_the_world),
        "failing_calls": [str(failing) for failing in quality.failing_calls],
        "robustness": list(quality.robustness),
        "not_tried": list(quality.not_tried),
    }
