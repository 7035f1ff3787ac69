"""Tests that an idle worker measures the quality of sandbox tests after their results are in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from catalog.evidence import services
from catalog.evidence.services import running
from catalog.evidence.tasks import run_cases as run_cases_task
from catalog.execution.sandbox import (
    Availability,
    Ended,
    Fingerprint,
    Observation,
    PreparedRun,
    RunObservation,
    SandboxFailed,
)
from catalog.models import CaseRun, EntryCases, Execution, Version
from tests.catalog.evidence.conftest import RIGHT, WRONG, cases_text
from tests.catalog.execution.cases.writing import case_data

pytestmark = pytest.mark.django_db


class Prints:
    """A sandbox that runs nothing. Every script succeeds and prints the text that the test defines."""

    name = "bubblewrap"

    def __init__(self) -> None:
        self.scripts: list[str] = []
        self.before_each: Callable[[], None] = lambda: None
        self.prints: Callable[[PreparedRun], str] = lambda _: ""

    def run(self, prepared: PreparedRun) -> Observation:
        self.before_each()
        self.scripts.append(prepared.script)
        ran = RunObservation(
            ended=Ended.FINISHED, status=0, stdout=self.prints(prepared), stderr="", seconds=0.1,
            peak_memory=0, processes_seen=1, calls=(), after={},
        )  # fmt: skip
        return Observation(0, {}, (ran,) * prepared.runs, None, {})


@pytest.fixture
def prints(monkeypatch: pytest.MonkeyPatch) -> Prints:
    made = Prints()
    found = Availability(sandbox=made, fingerprint=Fingerprint(parts={"bash": "5.2"}))
    monkeypatch.setattr(running, "current_sandbox", lambda: found)
    return made


@pytest.fixture
def kept(version: Version) -> EntryCases:
    """Add a sandbox test that every successful script passes."""
    return services.add_cases(version.entry, cases_text(case_data()), by=None)


@pytest.fixture
def ran(kept: EntryCases, prints: Prints) -> Execution:
    """Return the result of the entry's script before the quality of its tests is measured."""
    run_cases_task(CaseRun.objects.get().pk)
    return Execution.objects.get()


def quality_run() -> CaseRun:
    return CaseRun.objects.get(purpose="quality")


def test_the_result_is_there_first_and_the_quality_once(
    ran: Execution, kept: EntryCases, version: Version, prints: Prints, as_curator: Client
) -> None:
    address = f"/catalogue/{version.entry.slug}/cases/"
    assert prints.scripts == [RIGHT] * 2, "once, and once more to see what changes"
    assert ran.judged and ran.lacks_quality and ran.small_errors is None
    assert "Mutation score not measured yet" in as_curator.get(address).text

    run_cases_task(quality_run().pk)
    ran.refresh_from_db()
    assert not ran.lacks_quality and ran.small_errors and ran.noticed is not None
    assert ran.document["quality"]["small_errors"] == ran.small_errors
    assert (
        f"; the tests catch {ran.noticed} of {ran.small_errors} mutation"
        in ran.document["sentence"]
    )
    page = as_curator.get(address).text
    assert "Mutation score not measured yet" not in page and "Mutations caught" in page

    measured = len(prints.scripts)
    run_cases_task(quality_run().pk)
    services.run_cases(RIGHT, kept.case_set)
    assert len(prints.scripts) == measured + 1
    assert quality_run().state == "done"


def test_requested_result_is_run_next(ran: Execution, kept: EntryCases, prints: Prints) -> None:
    prints.scripts.clear()

    def ask() -> None:
        if len(prints.scripts) == 3:
            services.request_run(WRONG, kept.case_set, purpose=CaseRun.Purpose.ASKED)
        elif len(prints.scripts) == 6:
            asked.append(CaseRun.objects.get(purpose="asked").state)
            lacking.append(Execution.objects.get(pk=ran.pk).lacks_quality)

    asked: list[str] = []
    lacking: list[bool] = []
    prints.before_each = ask
    run_cases_task(quality_run().pk)
    # The result was requested while the fourth script was running.
    assert prints.scripts[4:6] == [WRONG] * 2
    assert (asked, lacking) == (["done"], [True])
    ran.refresh_from_db()
    assert not ran.lacks_quality


def test_what_goes_wrong_with_a_result_is_no_matter_of_the_quality(
    ran: Execution, kept: EntryCases, prints: Prints, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("the disk is full")

    services.request_run(WRONG, kept.case_set, purpose=CaseRun.Purpose.ASKED)
    monkeypatch.setattr(running, "run_cases", fail)
    run_cases_task(quality_run().pk)
    assert CaseRun.objects.get(purpose="asked").trouble == "the disk is full"
    ran.refresh_from_db()
    assert not ran.lacks_quality


def test_another_worker_goes_on_where_one_was_killed(ran: Execution, prints: Prints) -> None:
    def die() -> None:
        if len(prints.scripts) == 5:
            raise SystemExit

    prints.before_each = die
    with pytest.raises(SystemExit):
        run_cases_task(quality_run().pk)
    assert (quality_run().state, Execution.objects.get().lacks_quality) == ("running", True)
    run_cases_task(quality_run().pk)
    assert quality_run().state == "running", "its lease has not run out"

    CaseRun.objects.filter(purpose="quality").update(
        lease_until=timezone.now() - timedelta(seconds=1)
    )
    prints.before_each = lambda: None
    run_cases_task(quality_run().pk)
    assert (quality_run().state, quality_run().script) == ("done", "")
    assert not Execution.objects.get().lacks_quality


def test_what_is_forgotten_meanwhile_is_not_kept(ran: Execution, prints: Prints) -> None:
    def forget() -> None:
        Version.objects.update(sha256="0" * 64)
        services.forget_scripts([ran.script_sha256])

    prints.before_each = forget
    run_cases_task(quality_run().pk)
    assert not Execution.objects.exists()
    assert (quality_run().state, quality_run().script) == ("cancelled", "")


def test_a_script_that_does_something_else_by_then_is_measured_when_it_is_run_again(
    ran: Execution, kept: EntryCases, prints: Prints
) -> None:
    measured = quality_run()
    CaseRun.objects.filter(pk=measured.pk).update(script="#!/bin/bash\n")
    ran.checks.update(state="passed" if ran.failed else "failed")
    run_cases_task(measured.pk)
    assert Execution.objects.get().lacks_quality
    services.run_cases(RIGHT, kept.case_set)
    assert CaseRun.objects.filter(purpose="quality", state="waiting").exists()


def test_changed_rerun_discards_first_verdict(kept: EntryCases, prints: Prints) -> None:
    kept.case_set.content["cases"][0]["expect"] = [{"check": "stdout_lines", "exactly": []}]
    kept.case_set.save()
    prints.prints = lambda prepared: "x\n" if "LC_ALL" in prepared.environment else ""
    execution = services.run_cases(RIGHT, kept.case_set)
    check = execution.checks.get()
    assert (check.state, check.got) == ("unstable", "different result in another language")
    assert not execution.judged and not CaseRun.objects.filter(purpose="quality").exists()


def test_unstable_checks_leave_quality_unmeasured(kept: EntryCases, prints: Prints) -> None:
    expect = [{"check": "exit_status", "equals": 0}, {"check": "stdout_lines", "exactly": []}]
    kept.case_set.content["cases"][0]["expect"] = expect
    kept.case_set.save()
    prints.prints = lambda prepared: "x\n" if "LC_ALL" in prepared.environment else ""
    execution = services.run_cases(RIGHT, kept.case_set)
    states = execution.checks.order_by("number").values_list("state", flat=True)
    assert list(states) == ["passed", "unstable"]
    run_cases_task(quality_run().pk)
    quality = Execution.objects.get().document["quality"]
    assert len(quality["not_about_the_world"]) == 1, "the sound one alone"
    assert quality["small_errors"] == 0, "no case passes for certain, so none can notice anything"


def test_quality_of_earlier_version_is_kept(ran: Execution, prints: Prints) -> None:
    Execution.objects.update(small_errors=3, noticed=2, quality_at=None)
    before = Execution.objects.get()
    ran_before = len(prints.scripts)
    assert not before.lacks_quality
    run_cases_task(quality_run().pk)
    assert len(prints.scripts) == ran_before
    assert Execution.objects.get().document == before.document


def test_the_quality_run_is_held_while_it_gives_way(
    ran: Execution, kept: EntryCases, prints: Prints, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "RENEW_AFTER", -1.0)
    prints.scripts.clear()
    leases: list[bool] = []

    def watch() -> None:
        measured = CaseRun.objects.filter(purpose="quality")
        if len(prints.scripts) == 3:
            services.request_run(WRONG, kept.case_set, purpose=CaseRun.Purpose.ASKED)
        elif len(prints.scripts) == 4:
            measured.update(lease_until=timezone.now() - timedelta(seconds=1))
        elif len(prints.scripts) == 5:
            leases.append(measured.filter(lease_until__gt=timezone.now()).exists())

    prints.before_each = watch
    run_cases_task(quality_run().pk)
    assert prints.scripts[4:6] == [WRONG] * 2
    assert leases == [True], "renewed by the result's second run"
    assert not Execution.objects.get(pk=ran.pk).lacks_quality


def test_quality_is_tried_again_where_the_sandbox_fails_and_not_for_ever(
    ran: Execution, version: Version, prints: Prints, as_curator: Client
) -> None:
    def fail() -> None:
        raise SandboxFailed("no more processes")

    address = f"/catalogue/{version.entry.slug}/cases/"
    prints.before_each = fail
    states = []
    for _try in range(running.QUALITY_TRIES):
        assert "Mutation score not measured yet" in as_curator.get(address).text
        run_cases_task(quality_run().pk)
        states.append(quality_run().state)
    assert states == ["waiting"] * (running.QUALITY_TRIES - 1) + ["done"]
    page = as_curator.get(address).text
    assert "Mutation score not measured." in page and "Mutation score not measured yet" not in page


def test_awaited_results_are_run_first(ran: Execution, kept: EntryCases, prints: Prints) -> None:
    nightly = services.request_run(WRONG, kept.case_set, purpose=CaseRun.Purpose.NIGHTLY)
    asked = services.request_run("exit 3", kept.case_set, purpose=CaseRun.Purpose.ASKED)
    first, second, none = (running._next_before("quality") for _ in range(3))
    assert first and second and (first.pk, second.pk, none) == (asked.pk, nightly.pk, None)
    assert running._next_before("asked") is None
