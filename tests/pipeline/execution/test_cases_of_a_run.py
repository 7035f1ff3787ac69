"""Tests for runs with sandbox tests, using the real SDK, the demo model, and the sandbox if the machine has one."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client, override_settings
from django.utils import timezone

from catalog.evidence.services import carry_out_run, running
from catalog.execution.cases import read_case_set
from catalog.execution.sandbox import Availability
from catalog.models import CaseRun, CaseSet, Execution, SandboxReport
from catalog.services import case_sets_for, keep_case_set, request_draft_runs
from pipeline import services
from pipeline.configurations.case_gain import case_gain_of
from pipeline.configurations.refinement_gain import gain_of
from pipeline.execution import case_runs, run_worker
from pipeline.execution.case_runs import CaseRuns
from pipeline.models import (
    Configuration,
    Draft,
    Endpoint,
    ModelCall,
    RoleSetting,
    Run,
    Stage,
    WrittenCases,
)
from tests.catalog.execution.conftest import availability
from tests.people import make_person
from tests.pipeline.rows import queue_run
from tests.standin_process import StandIn

__all__ = ["availability"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("standin")]

STAGING = 'Find the YAML files under /srv/deploy that have "staging" in their path'
TENANTS = "Report the disk space taken by the tenant directories in /srv/tenants"
CONNECTIONS = "Print how many established connections this host has to port 5432"
RELEASES = "Keep the five newest release directories in /srv/app/releases and remove the others"
CASE = {
    "title": "one", "about": "tenant directories", "kind": "usual", "world": {},
    "expect": [{"check": "exit_status", "equals": 0}],
}  # fmt: skip
INVOICES = (
    "Archive the PDF invoices under /srv/invoices that changed in the last 7 days into"
    " /backup/invoices.tar.gz"
)


@pytest.fixture
def sandbox_worker(availability: Availability, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulate a sandbox worker that has reported its sandbox and runs each request immediately."""
    if availability.sandbox is None:
        pytest.skip(f"no sandbox here: {availability.reason} {availability.remedy}")
    SandboxReport.objects.create(name=availability.sandbox.name)
    # Use this sandbox, because another probe on a busy machine may return a different result.
    monkeypatch.setattr(running, "current_sandbox", lambda: availability)
    monkeypatch.setattr(CaseRun, "enqueue", lambda run: (carry_out_run(run.pk), run)[1])


def carry_out(statement: str, cases: str) -> Run:
    Configuration.objects.filter(is_default=True).update(cases=cases)
    run = queue_run(statement)
    return run_worker.run_to_end(run.pk, give_up_after=60)


def outcomes(run: Run) -> dict[str, str]:
    return {f"{one.name} {one.round}": one.outcome for one in run.stages.all()}


@pytest.mark.slow
def test_cases_of_run_name_author_and_run(standin: StandIn, sandbox_worker: None) -> None:
    run = carry_out(STAGING, "run")
    written = WrittenCases.objects.get(run=run, number=0)
    assert written.model and written.prompt_version == run.spec["prompts"]["cases"]
    case_set = written.case_set
    assert (case_set.author_kind, case_set.author_name) == ("model", written.model)
    assert case_set.prompt_version == written.prompt_version
    first, refined = run.drafts.order_by("number")
    states = {one.script_sha256: one.state for one in Execution.objects.filter(case_set=case_set)}
    assert states == {first.sha256: "failed", refined.sha256: "passed"}
    found = outcomes(run)
    assert (found["cases 0"], found["execute 0"]) == ("written", "fails")
    assert (found["mend_cases 1"], found["execute 1"]) == ("kept", "holds")
    call = ModelCall.objects.get(run=run, stage="cases")
    assert call.attempts.get().output_tokens > 0
    assert "find /srv/deploy" not in str(ModelCall.objects.get(run=run, stage="mend_cases").request)
    # Continuing the run repeats no model call and no sandbox run.
    before, executions = standin.totals(), Execution.objects.count()
    Run.objects.filter(pk=run.pk).update(state="queued", finished_at=None)
    assert run_worker.run_to_end(run.pk, give_up_after=60).state == "done"
    assert (standin.totals(), Execution.objects.count()) == (before, executions)
    assert WrittenCases.objects.filter(run=run).count() == 2


@pytest.mark.slow
def test_open_statement_takes_its_check_out_and_strict_one_is_mended(sandbox_worker: None) -> None:
    run = carry_out(TENANTS, "run")
    first, second = run.written_cases.order_by("number")
    assert second.answers[0]["answer"] == "open"
    assert second.case_set.replaces == first.case_set
    assert len(second.case_set.content["cases"][0]["expect"]) == 1
    # Only the newer test suite runs on Drafts for the statement, and the run's own results are not repeated.
    assert services.request_evidence(run.pk) == 0
    results = CaseRun.objects.exclude(purpose=CaseRun.Purpose.QUALITY)
    asked = results.count()
    assert request_draft_runs(TENANTS, ["true\n"]) == 1
    assert results.count() == asked + 1
    assert results.latest("pk").case_set == second.case_set
    mended = carry_out(CONNECTIONS, "run")
    assert mended.written_cases.get(number=1).answers[0]["answer"] == "mend"
    newest = Execution.objects.exclude(fingerprint__has_key="origin").get(
        case_set=mended.written_cases.get(number=1).case_set
    )
    assert newest.state == "passed"


@pytest.mark.slow
def test_what_is_refined_from_cases_stands_beside_what_is_recommended(
    sandbox_worker: None, client_for: Callable[[User], Client]
) -> None:
    run = carry_out(RELEASES, "feedback")
    assert run.verdict == "correct", "the verdict is the first assessment's, whatever came later"
    first, revised = run.drafts.order_by("number")
    assert (revised.kind, revised.round, revised.feedback) == ("revised", 2, None)
    assert run.recommended == first == revised.parent, "passed: no case takes its place"
    assert outcomes(run)["recommend 2"] == "before"
    told = run.stages.get(name="recommend").found
    assert "held out from the model" in told
    # The gain from sandbox tests is measured separately, over all runs of the configuration.
    gain = case_gain_of(run.configuration)
    assert gain is not None and (gain.runs, gain.offered) == (1, 0)
    assert gain.told.checks + gain.held_back.checks == 5
    assert gain.held_back.after == gain.held_back.checks > gain.held_back.before
    assert [one.reached for one in gain_of(run.configuration).rounds] == [1]
    administrator = make_person("ada", "administrator")
    page = client_for(administrator).get(f"/configurations/{run.configuration.name}/").text
    assert "Refinement from sandbox tests" in page and "Tests held out from the model" in page
    page = client_for(administrator).get(f"/runs/{run.pk}/").text
    assert "is offered as an alternative" not in page
    Stage.objects.filter(run=run, name="recommend").update(outcome="offered")
    page = client_for(administrator).get(f"/runs/{run.pk}/").text
    assert f"Draft {revised.number} is offered as an alternative" in page
    assert "alternative that passes more checks" in page


def test_without_a_sandbox_it_is_not_run_and_says_why() -> None:
    run = carry_out(STAGING, "feedback")
    stage = run.stages.get(name="execute", round=0)
    assert (run.state, stage.outcome) == ("done", "not_run")
    assert "No sandbox worker has reported recently" in stage.found
    assert run.drafts.filter(kind="refined").exists(), "the rest of the run goes on"
    with override_settings(SCRIPTSMITH_EXECUTION=False):
        SandboxReport.objects.create(name="bubblewrap")
        other = carry_out(INVOICES, "run")
    assert "turned off" in other.stages.get(name="execute").found


def test_a_worker_that_does_not_come_is_waited_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    SandboxReport.objects.create(name="bubblewrap")
    monkeypatch.setattr(case_runs, "LONGEST_WAIT", 0.0)
    monkeypatch.setattr(case_runs, "_late_until", 0.0)
    waits: list[CaseRuns] = []
    wait = CaseRuns._wait_for
    monkeypatch.setattr(
        CaseRuns, "_wait_for", lambda self, run: (waits.append(self), wait(self, run))[1]
    )
    run = carry_out(STAGING, "run")
    assert run.state == "done" and outcomes(run)["execute 0"] == "not_run"
    assert CaseRun.objects.filter(state="waiting").count() == 2 == len(waits)
    assert waits[0]._left == 0
    # For a while, the worker's later runs do not wait either.
    monkeypatch.setattr(case_runs, "LONGEST_WAIT", 3600.0)
    assert outcomes(carry_out(TENANTS, "run"))["execute 0"] == "not_run"


def test_the_demo_model_says_that_it_can_write_none() -> None:
    run = carry_out("List the files under /srv/repo", "run")
    stage = run.stages.get(name="cases")
    assert (stage.outcome, stage.state) == ("none", "done")
    assert "another model" in stage.found
    assert not CaseSet.objects.exists() and run.state == "done"


def test_a_configuration_without_the_switch_names_no_author_of_cases() -> None:
    run = carry_out(STAGING, "off")
    assert "case_author" not in run.spec
    assert not ModelCall.objects.filter(run=run, stage__in=["cases", "mend_cases"]).exists()


def name_author(endpoint: str, model: str) -> Endpoint:
    configuration = Configuration.objects.get(is_default=True)
    there = Endpoint.objects.get(name="demo")
    values = {"mode": there.mode, "enabled": True, "base_url": there.base_url}
    author, _made = Endpoint.objects.update_or_create(name=endpoint, defaults=values)
    RoleSetting.objects.create(
        configuration=configuration, role="case_author", endpoint=author, model=model
    )
    return author


def test_an_author_of_cases_that_is_switched_off_later_fails_no_run() -> None:
    author = name_author("ghost", "demo-smith")
    Configuration.objects.filter(is_default=True).update(cases="run")
    run = queue_run(STAGING)
    assert set(run.spec["roles"]) == {"generator", "assessor", "refiner"}, "as older workers want"
    Endpoint.objects.filter(pk=author.pk).update(enabled=False)
    run = run_worker.run_to_end(run.pk, give_up_after=60)
    stage = run.stages.get(name="cases")
    assert (run.state, run.problem, stage.outcome) == ("done", "", "none")
    assert "is off" in stage.found and run.verdict


def test_an_author_that_rests_for_long_holds_no_run() -> None:
    author = name_author("ghost", "demo-smith")
    until = timezone.now() + timedelta(hours=1)
    Endpoint.objects.filter(pk=author.pk).update(blocked_until=until, blocked_why="Spent.")
    run = carry_out(STAGING, "run")
    stage = run.stages.get(name="cases")
    assert (run.state, stage.outcome, stage.found) == ("done", "none", "Skipped: Spent.")
    # The endpoint is available again, but the run still continues without sandbox tests.
    Endpoint.objects.filter(pk=author.pk).update(blocked_until=None)
    Run.objects.filter(pk=run.pk).update(state="queued", finished_at=None)
    assert run_worker.run_to_end(run.pk, give_up_after=60).state == "done"
    assert not WrittenCases.objects.exists()


def test_cases_of_which_none_is_kept_are_out_of_force() -> None:
    ports = CaseRuns(lambda: None)
    written = read_case_set(json.dumps({"format": 1, "statement": TENANTS, "cases": [CASE],
        "author": {"kind": "model", "name": "demo-smith"}}))  # fmt: skip
    row = ports.keep(written, prompt_version="1", replaces="")
    SandboxReport.objects.create(name="bubblewrap")
    assert list(case_sets_for(TENANTS)) == [row]
    ports.withdraw(written)
    assert not case_sets_for(TENANTS) and request_draft_runs(TENANTS, ["true\n"]) == 0
    assert ports.keep(written, prompt_version="1", replaces="") == row and not case_sets_for(
        TENANTS
    )
    person = make_person("ada", "administrator")
    keep_case_set(written, by=person)
    assert list(case_sets_for(TENANTS)) == [row], "whoever writes them as they are means them"


def test_nothing_is_asked_for_where_nobody_would_run_it() -> None:
    ports = CaseRuns(lambda: None)
    written = read_case_set(json.dumps({"format": 1, "statement": TENANTS, "cases": [CASE],
        "author": {"kind": "model", "name": "demo-smith"}}))  # fmt: skip
    ports.keep(written, prompt_version="1", replaces="")
    report = SandboxReport.objects.create(name="bubblewrap")
    assert request_draft_runs(TENANTS, ["true\n"]) == 1
    gone = timezone.now() - timedelta(minutes=5)
    SandboxReport.objects.filter(pk=report.pk).update(last_at=gone)
    assert request_draft_runs(TENANTS, ["false\n"]) == 0
    SandboxReport.objects.create(reason="none here")
    assert request_draft_runs(TENANTS, ["false\n"]) == 0
    assert CaseRun.objects.count() == 1


@pytest.mark.slow
def test_cases_go_with_the_texts_of_the_action(sandbox_worker: None) -> None:
    run = carry_out(TENANTS, "run")
    other = carry_out(CONNECTIONS, "run")
    kept = set(other.written_cases.values_list("case_set", flat=True))
    services.erase_action(run.action, by=make_person("ada", "administrator"))
    assert set(CaseSet.objects.values_list("pk", flat=True)) == kept
    assert not WrittenCases.objects.filter(run=run).exists()
    assert not Execution.objects.exclude(case_set__in=kept).exists()
    assert Draft.objects.filter(run=run).count() == 1
