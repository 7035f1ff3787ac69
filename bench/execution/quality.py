"""Measure whether the demo model's sandbox tests catch errors, using correct scripts with one planted error each.

The errors below were chosen from the statements before any test run, and some errors are not caught.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from bench.figures import CannotMeasure, Figure, figure
from catalog.execution.cases import CaseSet, State, run_case_set
from catalog.execution.quality import measure_quality
from catalog.execution.sandbox import Availability, Sandbox, find_sandbox
from pipeline.flow.reading.case_reader import make_case_set

_DEMO = Path(__file__).resolve().parents[2] / "pipeline" / "demo"
WANTED = 24
_FEW_MUTANTS = 12


class Planted(NamedTuple):
    """An error in an action's otherwise correct script. `wrong` replaces the text `right`."""

    action: str
    kind: str
    right: str
    wrong: str


PLANTED = (
    Planted("01", "off by one", "-mtime +30", "-mtime +31"),
    Planted("01", "missing guard", "-type f ", ""),
    Planted("01", "wrong option", "-mtime", "-atime"),
    Planted("05", "wrong option", "-path", "-name"),
    Planted("05", "wrong path", "/srv/deploy", "/srv"),
    Planted("05", "missing quote", "'*.yaml'", "*.yaml"),
    Planted("06", "wrong option", "-amin", "-mmin"),
    Planted("06", "wrong sign", "-120", "+120"),
    Planted("07", "wrong path", "/srv/www/ ", "/srv/www "),
    Planted("07", "missing option", "--delete ", ""),
    Planted("07", "wrong order", "/srv/www/ /backup/www/", "/backup/www/ /srv/www/"),
    Planted("11", "missing condition", "--field-selector status.phase=Running ", ""),
    Planted("14", "wrong option", "-rlZF", "-rZF"),
    Planted("14", "missing guard", " || [[ $? -eq 1 ]]", ""),
    Planted("15", "wrong sign", "-mtime -7", "-mtime +7"),
    Planted("15", "missing option", "--gzip ", ""),
    Planted("16", "wrong path", "/backup/etc.tar.gz", "/backup/etc.tgz"),
    Planted("17", "wrong option", "-mtime", "-ctime"),
    Planted("19", "missing escape", "s/db-old\\.internal", "s/db-old.internal"),
    Planted("19", "missing option", "new.internal/g'", "new.internal/'"),
    Planted("20", "wrong value", 'reason=="Evicted"', 'reason=="Failed"'),
    Planted("21", "wrong column", "backend_start <", "query_start <"),
    Planted("22", "off by one", "-n +6", "-n +5"),
    Planted("22", "wrong order", "sort -z -rn", "sort -z -n"),
    Planted("24", "wrong unit", "2 * 1024 * 1024", "2 * 1024"),
    Planted("25", "missing guard", "-euo pipefail", "-eu"),
    Planted("25", "off by one", "-mtime +7", "-mtime +8"),
    Planted("26", "missing condition", " && !seen[$1]++", ""),
    Planted("29", "wrong column", "$5", "$4"),
    Planted("31", "missing guard", "sudo nginx -t", "sudo nginx -t || true"),
)


class Written(NamedTuple):
    """The demo model's tests for an action, and the action's correct script."""

    name: str
    case_set: CaseSet
    right: str


def read_written(availability: Availability) -> list[Written]:
    """Return the demo model's actions with their tests, including the author's corrections."""
    found = []
    for path in sorted((_DEMO / "cases").glob("*.yaml")):
        told = yaml.safe_load(path.read_text(encoding="utf-8"))
        action = yaml.safe_load((_DEMO / "actions" / path.name).read_text(encoding="utf-8"))
        cases = list(told["cases"])
        for answer in told.get("mend", ()):
            case, check = (int(part) - 1 for part in answer["check"].split("."))
            if answer["answer"] == "mend":
                cases[case] = answer["case"]
            else:
                del cases[case]["expect"][check]
        cases = [
            case
            for case in cases
            if any(check["check"] != "exit_status" for check in case["expect"])
        ]
        case_set, refused = make_case_set(
            cases, statement=action["statement"].strip(), author="demo-smith"
        )
        assert case_set is not None and not refused, (path.name, refused)
        right = next(
            (
                draft["script"]
                for draft in action["drafts"]
                if _holds(case_set, draft["script"], availability)
            ),
            "",
        )
        found.append(Written(path.stem, case_set, right))
    return found


def find_unnoticed(written: Sequence[Written], availability: Availability) -> list[Planted]:
    """Return the planted errors that no check catches."""
    by_number = {one.name[:2]: one for one in written}
    unnoticed = []
    for planted in PLANTED:
        one = by_number[planted.action]
        script = one.right.replace(planted.right, planted.wrong)
        assert script != one.right, f"{planted} changes nothing"
        if not run_case_set(one.case_set, script, availability).count(State.FAILED):
            unnoticed.append(planted)
    return unnoticed


def measure() -> list[Figure]:
    """Measure how many planted errors the tests catch, and how many mutations each test suite catches."""
    found = find_sandbox()
    if found.sandbox is None:
        raise CannotMeasure(f"no sandbox here: {found.reason} {found.remedy}")
    written = read_written(found)
    unnoticed = find_unnoticed(written, found)
    words = "; ".join(f"{one.action} {one.kind}, {one.right}" for one in unnoticed)
    never_failing = 0
    figures: list[Figure] = [
        figure(
            f"planted errors noticed, of {len(PLANTED)}",
            len(PLANTED) - len(unnoticed),
            least=WANTED,
            note=f"not: {words}" if words else "",
        )
    ]
    for one in written:
        row, never = _measure_set(one, found.sandbox, found)
        figures.append(row)
        never_failing += never
    figures.insert(
        1,
        figure("checks that hold for `:`, `exit 1` and `cat` alike", never_failing, exactly=0),
    )
    return figures


def _measure_set(one: Written, sandbox: Sandbox, availability: Availability) -> tuple[Figure, int]:
    execution = run_case_set(one.case_set, one.right, availability)
    quality = measure_quality(
        one.case_set, one.right, execution, sandbox, most_mutants=_FEW_MUTANTS
    )
    assert quality is not None  # A measurement of such a small suite does not time out.
    row = figure(
        f"{one.name}: mutants killed, of {quality.mutants}",
        quality.noticed,
        note="; ".join(quality.survivors)[:200],
    )
    return row, len(quality.never_failing)


def _holds(case_set: CaseSet, script: str, availability: Availability) -> bool:
    execution = run_case_set(case_set, script, availability)
    return execution.count(State.PASSED) == sum(len(case.checks) for case in execution.cases)
