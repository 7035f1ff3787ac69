"""Tests that an incomplete result is not a verdict, so it hides no better result and its tests run again."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from catalog.evidence import services
from catalog.execution.cases import read_case_set
from catalog.execution.sandbox import Availability, Call, Ended, Entry, Observation, PreparedRun
from catalog.models import CaseRun, CaseSet, Execution
from tests.catalog.evidence.conftest import NOWHERE, cases_text
from tests.catalog.execution.cases.writing import case_data, make_set
from tests.catalog.execution.scripted import failing_in, on_machine, run_seen, world_seen
from tests.catalog.shelf import shelve

pytestmark = pytest.mark.django_db

ENDS_WELL = {"check": "exit_status", "equals": 0}
SCRIPT = "true\n"
FILE = Entry("file", 0o644, 1, 1, "x", None, "x")


def answer(prepared: PreparedRun) -> Observation:
    return world_seen(run_seen(status=1 if "second" in prepared.arguments else 0))


WHOLE = on_machine(answer)  # the second test fails
IN_PART = failing_in("second")  # the sandbox fails in the second test


@pytest.fixture
def case_set(db: None) -> CaseSet:
    first = case_data(ENDS_WELL, title="first", world={"arguments": ["first"]})
    second = case_data(ENDS_WELL, title="second", world={"arguments": ["second"]})
    return services.keep_case_set(make_set(first, second), by=None)


def run(case_set: CaseSet, found: Availability) -> Execution:
    return services.run_cases(SCRIPT, case_set, found=found)


def test_one_case_that_was_not_run_makes_the_whole_incomplete(case_set: CaseSet) -> None:
    stored = run(case_set, IN_PART)
    assert (stored.state, stored.passed, stored.failed, stored.others) == ("not run", 1, 0, 1)
    assert stored.reason == "the helper did not answer"
    assert not stored.lacks_quality and not CaseRun.objects.exists()


def test_it_hides_no_complete_result(case_set: CaseSet) -> None:
    complete = run(case_set, WHOLE)
    assert complete.state == "failed"
    incomplete = run(case_set, IN_PART)
    assert incomplete.last_at > complete.last_at
    (newest,) = services.newest_results(Execution.objects.all(), "script_sha256", "case_set_id")
    assert newest == complete
    assert services.last_execution(complete.script_sha256, case_set) == complete
    again = run(case_set, WHOLE)
    assert (again.pk, again.times) == (complete.pk, 2), "the same result as before the trouble"
    assert run(case_set, IN_PART).pk == incomplete.pk, "and the same trouble"


def test_it_is_tried_again(case_set: CaseSet) -> None:
    stored = run(case_set, IN_PART)
    assert services.request_missing_runs({stored.script_sha256: SCRIPT}, [case_set]) == 1
    CaseRun.objects.all().delete()
    run(case_set, WHOLE)
    assert services.request_missing_runs({stored.script_sha256: SCRIPT}, [case_set]) == 0


def test_a_check_that_is_unsupported_by_now_is_changed_evidence() -> None:
    version = shelve("Delete log files of the app older than 7 days", script=SCRIPT)
    kept = services.add_cases(version.entry, cases_text(), by=None)
    passes = world_seen(run_seen(), before={"/srv/old.log": FILE})
    asks = Call("mail", ("ops",), None, 127, False)
    unsupported = world_seen(run_seen(calls=(asks,)), before={"/srv/old.log": FILE})
    stopped = world_seen(run_seen(ended=Ended.TIMED_OUT), before={"/srv/old.log": FILE})

    def find_changes(seen: Observation) -> list[tuple[str, str]]:
        services.run_cases(SCRIPT, kept.case_set, found=on_machine(lambda prepared: seen))
        return [(one.before.state, one.after.state) for one in services.changed_evidence()]

    assert find_changes(passes) == []
    assert find_changes(stopped) == [], "that a limit ended it tells of the machine"
    assert find_changes(unsupported) == [("passed", "unsupported")]
    kept.refresh_from_db()
    assert kept.latest is not None and kept.latest.state == "unsupported"


def test_paths_and_sentences_have_the_dates_of_the_day_of_the_run() -> None:
    path = "/srv/{date:%F}.log"
    text = cases_text(
        case_data({"check": "added", "exactly": [path]}, world={"files": [{"path": path}]})
    )
    case_set = services.keep_case_set(read_case_set(text), by=None)
    (row,) = services.case_rows(case_set, None)
    today = datetime.now(UTC).strftime("%F")
    assert row.checks[0].sentence == f"adds exactly `/srv/{today}.log`"
    stored = run(case_set, on_machine(lambda prepared: world_seen(run_seen())))
    Execution.objects.filter(pk=stored.pk).update(first_at=datetime(2026, 3, 1, 12, tzinfo=UTC))
    stored.refresh_from_db()
    (row,) = services.case_rows(case_set, stored)
    assert "2026-03-01.log" in {one.name for one in row.tree}
    nowhere = run(case_set, NOWHERE)
    assert nowhere.checks.get().sentence == f"adds exactly `/srv/{today}.log`"
