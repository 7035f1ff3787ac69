"""Tests that a separate worker runs sandbox tests once and stores their results by hash."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from catalog.curation.services import merge_entries, undo_merge
from catalog.entries.services import edit_version, submit_for_review, verify
from catalog.entries.services.versions import details_of
from catalog.evidence import services
from catalog.evidence.services import running, sandboxes
from catalog.evidence.tasks import probe_sandbox, run_all_cases
from catalog.evidence.tasks import run_cases as run_cases_task
from catalog.execution.sandbox import Availability, Fingerprint, Observation, PreparedRun, Sandbox
from catalog.models import (
    CaseRun,
    CaseSet,
    CheckResult,
    EntryCases,
    EvidenceChange,
    Execution,
    SandboxReport,
    Version,
)
from catalog.tasks import curate
from core.errors import NotAllowedNow
from scriptsmith_site import worker
from scriptsmith_site.worker import warm_up_worker
from tests.catalog.evidence.conftest import NOWHERE, OLD, RIGHT, WRONG, YOUNG, cases_text
from tests.catalog.execution.cases.writing import case_data, make_set
from tests.catalog.shelf import shelve

pytestmark = pytest.mark.django_db


class NeverRun:
    """A sandbox that must never run a script."""

    name = "bubblewrap"

    def run(self, prepared: PreparedRun) -> Observation:
        raise AssertionError(prepared)


def start_worker() -> None:
    """Send the signal that a sandbox worker sends when it is ready."""
    warm_up_worker(sender="execution@host")


def machine(bash: str) -> Availability:
    """Return a sandbox on a machine with this version of bash."""
    return Availability(sandbox=NeverRun(), fingerprint=Fingerprint(parts={"bash": bash}))


def carry_out_all() -> None:
    """Process all waiting work of the sandbox worker: first the results, then their quality."""
    waiting = CaseRun.objects.filter(state="waiting").order_by("pk").values_list("pk", flat=True)
    for _ in range(2):
        for pk in waiting.all():
            run_cases_task(pk)


@pytest.mark.slow
def test_new_cases_run_on_active(confined: Sandbox, kept: EntryCases, version: Version) -> None:
    run = CaseRun.objects.get()
    assert (run.state, run.purpose, run.script) == ("waiting", "cases", RIGHT)
    run_cases_task(run.pk)
    assert Execution.objects.get().lacks_quality
    carry_out_all()

    run.refresh_from_db()
    kept.refresh_from_db()
    assert (run.state, run.script, run.execution) == ("done", "", kept.latest)
    execution = Execution.objects.get()
    assert (execution.state, execution.passed, execution.failed) == ("passed", 1, 0)
    assert execution.script_sha256 == version.sha256
    assert execution.fingerprint["sandbox"].startswith("bubblewrap")
    assert 0 < execution.noticed <= execution.small_errors
    check = CheckResult.objects.get()
    assert (check.sentence, check.state) == ("removes exactly `/srv/old.log`", "passed")
    assert execution.document["worlds"][0]["seen"]["removed"] == ["/srv/old.log"]


def test_a_second_delivery_does_nothing(confined: Sandbox, kept: EntryCases) -> None:
    run = CaseRun.objects.get()
    run_cases_task(run.pk)
    run_cases_task(run.pk)
    assert Execution.objects.get().times == 1


def test_the_same_verdicts_on_the_same_machine_are_one_result(
    confined: Sandbox, kept: EntryCases, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = services.run_cases(RIGHT, kept.case_set)

    def refuse(*_: object) -> None:
        raise AssertionError("what changes is looked for once")

    monkeypatch.setattr(running, "repeat", refuse)
    again = services.run_cases(RIGHT, kept.case_set)
    assert (again.pk, again.times) == (first.pk, 2)
    assert again.last_at > first.last_at


def test_missing_sandbox_is_recorded(kept: EntryCases, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "current_sandbox", lambda: NOWHERE)
    carry_out_all()
    execution = Execution.objects.get()
    assert (execution.state, execution.fingerprint) == ("not run", {})
    assert execution.reason == "user namespaces are off. Turn them on."
    kept.refresh_from_db()
    assert kept.latest is None
    assert CaseRun.objects.get().state == "done"


def test_a_switch_turns_execution_off(
    kept: EntryCases, settings: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.conf.settings.SCRIPTSMITH_EXECUTION", False)
    assert services.run_cases(RIGHT, kept.case_set).reason.startswith("Execution is turned off.")


def test_job_of_dead_worker_is_resent(kept: EntryCases, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(CaseRun, "dispatch", lambda run: told.append(run.pk))
    run = CaseRun.objects.get()
    CaseRun.objects.filter(pk=run.pk).update(
        state="running", owner="gone", lease_until=timezone.now() - timedelta(seconds=1)
    )
    curate()
    assert told == [], "nobody is there to take it"
    report = SandboxReport.objects.create(name="bubblewrap")
    curate()
    assert told == [run.pk]
    SandboxReport.objects.filter(pk=report.pk).update(last_at=timezone.now() - timedelta(hours=3))
    curate()
    assert told == [run.pk]


def test_failed_run_keeps_reason_only(kept: EntryCases, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(running, "run_cases", fail)
    with pytest.raises(RuntimeError):
        run_cases_task(CaseRun.objects.get().pk)
    run = CaseRun.objects.get()
    assert (run.state, run.trouble, run.script) == ("failed", "the disk is full", "")


def test_asked_for_twice_it_is_run_once(kept: EntryCases, curator: User) -> None:
    first = CaseRun.objects.get()
    again = services.request_run(RIGHT, kept.case_set, purpose=CaseRun.Purpose.ASKED, by=curator)
    assert again == first


def test_every_new_version_and_verifying_run_the_cases(
    kept: EntryCases, version: Version, curator: User, second_curator: User
) -> None:
    CaseRun.objects.all().delete()
    edited = edit_version(version, script=WRONG, details=details_of(version), by=curator)
    assert CaseRun.objects.get().purpose == "edited"
    CaseRun.objects.all().delete()
    submit_for_review(edited, by=curator)
    assert CaseRun.objects.get().script == WRONG
    CaseRun.objects.all().delete()
    verify(edited, by=second_curator, note="looked at it")
    run = CaseRun.objects.get()
    assert (run.purpose, run.script, run.by) == ("verified", WRONG, second_curator)


@pytest.mark.slow
def test_evidence_that_changes_is_listed_until_a_curator_has_looked(
    confined: Sandbox, kept: EntryCases, version: Version, curator: User, second_curator: User
) -> None:
    carry_out_all()
    assert not EvidenceChange.objects.exists()
    edited = edit_version(version, script=WRONG, details=details_of(version), by=curator)
    carry_out_all()
    # The draft is not live, so its result changes no evidence.
    assert not EvidenceChange.objects.exists()
    verify(edited, by=second_curator, note="looked at it")
    carry_out_all()

    change = services.changed_evidence().get()
    assert (change.entry, change.version) == (version.entry, edited)
    ((check, then),) = services.changed_checks(change.before, change.after)
    assert (then, check.state, check.got) == ("passed", "failed", "unexpected: `/srv/young.log`")
    services.mark_change_seen(change, by=curator)
    assert not services.changed_evidence().exists()
    with pytest.raises(NotAllowedNow):
        services.mark_change_seen(change, by=second_curator)


@pytest.mark.parametrize("told", [probe_sandbox, start_worker])
def test_another_kind_of_machine_is_reported_and_waits_for_the_night(
    kept: EntryCases, monkeypatch: pytest.MonkeyPatch, told: Callable[[], None]
) -> None:
    monkeypatch.setattr(worker, "keep_reporting", lambda: None)
    CaseRun.objects.all().delete()

    def find(availability: Availability) -> None:
        monkeypatch.setattr(sandboxes, "find_sandbox", lambda: availability)
        told()
        assert not CaseRun.objects.exists()

    find(machine("5.2"))
    find(machine("5.2"))
    report = SandboxReport.objects.get()
    assert report.name == "bubblewrap" and report.last_at > report.first_at
    for availability in (machine("5.3"), machine("5.2"), NOWHERE):
        find(availability)
    last = services.last_report()
    assert last is not None and last.reason == "user namespaces are off."
    assert SandboxReport.objects.count() == 3


def test_merge_moves_cases_until_undone(kept: EntryCases, version: Version, curator: User) -> None:
    other = shelve("Remove old logs", script=WRONG)
    CaseRun.objects.all().delete()
    merge = merge_entries(version.entry, target=other.entry, by=curator)
    assert [row.case_set for row in services.kept_cases(other.entry)] == [kept.case_set]
    run = CaseRun.objects.get()
    assert (run.purpose, run.script) == ("merged", WRONG)
    undo_merge(merge, by=curator)
    assert not services.kept_cases(other.entry).exists()
    assert services.kept_cases(version.entry).get() == kept


def test_same_cases_are_stored_once(kept: EntryCases, version: Version, curator: User) -> None:
    with pytest.raises(NotAllowedNow):
        services.add_cases(version.entry, cases_text(), by=curator)
    text = cases_text(author={"kind": "person", "name": "Bob"})
    other = shelve("Remove old logs", script=WRONG)
    assert services.add_cases(other.entry, text, by=curator).case_set == kept.case_set
    assert CaseSet.objects.get().author_name == "Ada"


def test_revised_cases_replace_earlier(kept: EntryCases, version: Version, curator: User) -> None:
    text = cases_text(
        case_data({"check": "exit_status", "equals": 0}, world={"files": [OLD, YOUNG]})
    )
    new = services.add_cases(version.entry, text, by=curator, replaces=kept)
    assert services.kept_cases(version.entry).get() == new
    with pytest.raises(NotAllowedNow):
        services.add_cases(version.entry, cases_text(), by=curator, replaces=kept)


def result_of(kept: EntryCases, *states: str) -> Execution:
    """Create a result with these check states, as if it had just been stored."""
    made = Execution.objects.create(
        script_sha256=Version.hash_of(RIGHT), case_set=kept.case_set, state=states[0]
    )
    for number, state in enumerate(states, 1):
        made.checks.create(case_number=1, number=number, sentence="does", state=state)
    services.note_result(made)
    kept.refresh_from_db()
    return made


def test_only_another_verdict_is_changed_evidence(kept: EntryCases) -> None:
    first = result_of(kept, "passed", "passed")
    for state in ("timed out", "unstable", "not run"):
        result_of(kept, "passed", state)
        assert kept.latest == first
    result_of(kept, "failed", "not run")
    assert kept.latest == first and not EvidenceChange.objects.exists()
    failed = result_of(kept, "passed", "failed")
    assert kept.latest == failed
    result_of(kept, "failed", "timed out")
    again = result_of(kept, "failed", "timed out")
    assert kept.latest == again
    assert EvidenceChange.objects.count() == 2


def test_result_of_removed_cases_is_lost(kept: EntryCases, monkeypatch: pytest.MonkeyPatch) -> None:
    run = services.request_run("echo secret\n", kept.case_set, purpose=CaseRun.Purpose.DRAFT)

    def forget(*_: object) -> Availability:
        services.forget_scripts([run.script_sha256])
        return NOWHERE

    monkeypatch.setattr(running, "current_sandbox", forget)
    run_cases_task(run.pk)
    assert not Execution.objects.exists()
    run.refresh_from_db()
    assert (run.state, run.script) == ("cancelled", "")


def test_repeated_request_survives_end(kept: EntryCases, monkeypatch: pytest.MonkeyPatch) -> None:
    CaseRun.objects.all().delete()
    create, refusals = CaseRun.objects.create, iter([True, False])

    def lose_once(**values: object) -> CaseRun:
        if next(refusals):
            raise IntegrityError("case_run_once_at_a_time")
        return create(**values)

    monkeypatch.setattr(CaseRun.objects, "create", lose_once)
    run = services.request_run(RIGHT, kept.case_set, purpose=CaseRun.Purpose.ASKED)
    assert run == CaseRun.objects.get(state="waiting")


def test_runs_that_ended_a_month_ago_go_at_night(kept: EntryCases) -> None:
    old = CaseRun.objects.get()
    long_ago = timezone.now() - timedelta(days=31)
    CaseRun.objects.update(state="done", script="", ended_at=long_ago)
    young = services.request_run("true\n", kept.case_set, purpose=CaseRun.Purpose.DRAFT)
    CaseRun.objects.filter(pk=young.pk).update(state="done", script="", ended_at=timezone.now())
    result = result_of(kept, "passed")
    shelve("Nobody wrote cases for this")
    run_all_cases()
    assert not CaseRun.objects.filter(pk=old.pk).exists()
    assert CaseRun.objects.filter(pk=young.pk).exists()
    run = CaseRun.objects.get(state="waiting")
    assert (run.purpose, run.script_sha256) == ("nightly", kept.entry.versions.get().sha256)
    assert Execution.objects.get() == result


def test_nightly_run_reads_in_parts(kept: EntryCases, monkeypatch: pytest.MonkeyPatch) -> None:
    services.add_cases(
        kept.entry,
        cases_text(author={"kind": "person", "name": "Bob"}, parameters={"A": "1"}),
        by=None,
    )
    CaseRun.objects.all().delete()
    with CaptureQueriesContext(connection) as queries:
        run_all_cases()
    assert CaseRun.objects.filter(purpose="nightly").count() == 2
    (read,) = (one["sql"] for one in queries if 'FROM "catalog_version"' in one["sql"])
    assert "findings" not in read and '"script"' in read


def test_undone_merge_keeps_newer_cases(kept: EntryCases, version: Version, curator: User) -> None:
    other = shelve("Remove old logs", script=WRONG)
    merge = merge_entries(version.entry, target=other.entry, by=curator)
    services.remove_cases(services.kept_cases(other.entry).get(), by=curator)
    own = services.add_cases(other.entry, cases_text(), by=curator)
    undo_merge(merge, by=curator)
    assert services.kept_cases(other.entry).get() == own


def test_what_waits_where_no_worker_with_a_sandbox_reports_goes_after_a_day() -> None:
    case_set = services.keep_case_set(make_set(case_data()), by=None)
    run = services.request_run("true\n", case_set, purpose=CaseRun.Purpose.DRAFT)
    assert services.delete_unserved_runs() == 0
    CaseRun.objects.filter(pk=run.pk).update(created_at=timezone.now() - timedelta(days=2))
    SandboxReport.objects.create(name="bubblewrap")
    assert services.delete_unserved_runs() == 0
    SandboxReport.objects.update(last_at=timezone.now() - timedelta(minutes=5))
    SandboxReport.objects.create(reason="none here")
    assert services.delete_unserved_runs() == 1


def test_what_somebody_waits_for_comes_before_the_night(monkeypatch: pytest.MonkeyPatch) -> None:
    case_set = services.keep_case_set(make_set(case_data()), by=None)
    quality, nightly, other, draft = (
        services.request_run(script, case_set, purpose=purpose)
        for script, purpose in (
            *(("a\n", "quality"), ("a\n", "nightly")),
            *(("b\n", "nightly"), ("c\n", "draft")),
        )
    )
    order: list[str] = []
    monkeypatch.setattr(running, "current_sandbox", lambda: machine("5.2"))
    monkeypatch.setattr(
        running, "run_cases", lambda script, *_, **__: (order.append(script), None)[1]
    )
    run_cases_task(nightly.pk)
    assert order == ["c\n", "a\n"]
    services.request_run("d\n", case_set, purpose=CaseRun.Purpose.ASKED)
    run_cases_task(quality.pk)
    assert order == ["c\n", "a\n", "d\n", "b\n"]
    ended = CaseRun.objects.filter(pk__in=[quality.pk, other.pk, draft.pk], state="done")
    assert ended.count() == 3


def test_worker_without_sandbox_leaves_run_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    case_set = services.keep_case_set(make_set(case_data()), by=None)
    run = services.request_run("true\n", case_set, purpose=CaseRun.Purpose.DRAFT)
    monkeypatch.setattr(running, "current_sandbox", lambda: NOWHERE)
    SandboxReport.objects.create(name="bubblewrap", last_at=timezone.now() - timedelta(seconds=20))
    SandboxReport.objects.create(reason=NOWHERE.reason)
    assert services.sandbox_trouble() == ""
    run_cases_task(run.pk)
    assert CaseRun.objects.get().state == "waiting"
    SandboxReport.objects.filter(name="bubblewrap").delete()
    run_cases_task(run.pk)
    assert (CaseRun.objects.get().state, Execution.objects.get().state) == ("done", "not run")


def test_worker_repeats_its_sandbox_report(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [NOWHERE, machine("5.2"), NOWHERE]
    monkeypatch.setattr(sandboxes, "find_sandbox", lambda: found.pop(0))
    monkeypatch.setattr(sandboxes, "_found", None)
    probe_sandbox()
    old = timezone.now() - timedelta(minutes=5)
    SandboxReport.objects.update(last_at=old)
    assert sandboxes.report_again() and SandboxReport.objects.get().is_recent
    assert sandboxes.current_sandbox() == NOWHERE
    monkeypatch.setattr(sandboxes, "LOOK_AGAIN", 0.0)
    assert sandboxes.current_sandbox().sandbox is not None and len(found) == 1
    assert not sandboxes.report_again(), "it is to be kept as news"
    assert sandboxes.current_sandbox().sandbox is not None and len(found) == 1
