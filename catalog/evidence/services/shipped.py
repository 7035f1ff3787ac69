"""Load results that were measured before a release, so that a new installation does not need to run every test.

A result is found by the hashes of its test suite and script, so changed suites and scripts run as usual. `python -m
bench.ship results` writes the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from catalog.evidence.services.changes import note_result
from catalog.execution.sandbox import Fingerprint
from catalog.models import CaseSet, CheckResult, CheckState, Execution
from catalog.models.evidence import ORIGIN

FILE = Path(__file__).resolve().parents[2] / "starter" / "executions.jsonl"
BEFORE_RELEASE = "before release"
_FIELDS = (
    *("script_sha256", "fingerprint", "state", "passed", "failed", "others", "worlds", "seconds"),
    *("small_errors", "noticed", "document"),
)
_TIMES = ("first_at", "last_at", "quality_at")
_CHECK_FIELDS = ("case_number", "number", "case_title", "sentence", "state", "got")


def store_shipped(case_set: CaseSet) -> None:
    """Store the shipped results for a new test suite."""
    for row in _read(case_set.sha256):
        checks = row.pop("checks")
        del row["case_set"]
        sha256 = Fingerprint(row["fingerprint"]).sha256
        stored = Execution.objects.create(case_set=case_set, fingerprint_sha256=sha256, **row)
        CheckResult.objects.bulk_create(
            CheckResult(execution=stored, **dict(zip(_CHECK_FIELDS, check, strict=True)))
            for check in checks
        )


def note_shipped(case_set: CaseSet) -> set[str]:
    """Record the shipped results as the latest results of the suite's entries. Return the hashes of the scripts."""
    shipped = case_set.executions.filter(fingerprint__has_key=ORIGIN)
    for execution in shipped:
        note_result(execution)
    return {execution.script_sha256 for execution in shipped}


def adopt_shipped_quality(stored: Execution) -> bool:
    """Copy the shipped quality to a local result with the same verdicts. Return whether it was copied.

    Quality depends only on tests and script, and measuring it takes a hundred times as long as running the tests.
    """
    same = stored.case_set.executions.filter(
        fingerprint__has_key=ORIGIN,
        script_sha256=stored.script_sha256,
        **{name: getattr(stored, name) for name in ("state", "passed", "failed", "others")},
    ).first()
    if same is None or same.lacks_quality or not same.document["quality"]:
        return False
    stored.document = {
        **stored.document,
        "sentence": same.document["sentence"],
        "quality": {**same.document["quality"], "environment": same.environment},
    }
    stored.quality_at, stored.small_errors = same.quality_at, same.small_errors
    stored.noticed = same.noticed
    stored.save(update_fields=["document", "quality_at", "small_errors", "noticed"])
    return True


def _read(sha256: str) -> Iterator[dict[str, Any]]:
    start = f'{{"case_set": "{sha256}"'  # the first key, because keys are sorted
    if FILE.is_file():
        with FILE.open(encoding="utf-8") as lines:
            yield from (json.loads(line) for line in lines if line.startswith(start))


def write_shipped() -> int:
    """Write all complete results in this database as shipped results and return their number.

    Timed-out results are excluded, because another machine may finish in time.
    """
    found = Execution.objects.exclude(quality_at=None).exclude(state=CheckState.NOT_RUN)
    found = found.exclude(checks__state=CheckState.TIMED_OUT).filter(imported=False)
    lines = sorted(
        json.dumps(_row(one), sort_keys=True) for one in found.select_related("case_set")
    )
    FILE.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return len(lines)


def _row(execution: Execution) -> dict[str, object]:
    values = {name: getattr(execution, name) for name in _FIELDS}
    fingerprint = {**execution.fingerprint, ORIGIN: BEFORE_RELEASE}
    if "linux" in fingerprint:  # omit the suffix that the distribution adds
        fingerprint["linux"] = fingerprint["linux"].partition("-")[0]
    values["fingerprint"] = fingerprint
    # Include the times, because the pages fill in dates for the day of the run.
    values |= {name: getattr(execution, name).isoformat(timespec="seconds") for name in _TIMES}
    checks = execution.checks.values_list(*_CHECK_FIELDS)
    return {
        "case_set": execution.case_set.sha256,
        **values,
        "checks": [list(one) for one in checks],
    }
