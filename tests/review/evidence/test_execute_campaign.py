"""Tests for `execute_campaign`, run from a terminal and from a program, and for partial runs, which give no verdict."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from catalog.execution.sandbox import Availability, Sandbox
from catalog.models import CaseRun, CaseSet, Execution
from review.evidence import executing
from review.evidence.services import outcome_of
from review.management.commands import execute_campaign
from review.study.execution import Executed
from review.study.types import FinalScore
from tests.catalog.execution.scripted import on_machine, run_seen, world_seen
from tests.catalog.execution.test_commands import run
from tests.people import make_person
from tests.review.evidence.conftest import write_cases
from tests.review.maker import make_study

pytestmark = pytest.mark.django_db
NOWHERE = Availability(sandbox=None, reason="user namespaces are off.", remedy="Turn them on.")


@pytest.fixture
def name(db: None) -> str:
    people = [make_person("rita", "reviewer")]
    study = make_study(by=make_person("mona", "manager"), reviewers=people, items=2)
    write_cases("List the files of case-0")
    return study.name


def use(found: Availability, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (executing, execute_campaign):
        monkeypatch.setattr(module, "current_sandbox", lambda: found)


@pytest.mark.slow
def test_every_script_is_run_once_and_again_where_asked(
    name: str, sandbox: Sandbox, availability: Availability, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(availability, monkeypatch)
    status, printed = run("execute_campaign", name, json=True)
    found: Any = json.loads(printed)
    assert status == 0 and found["states"] == {"failed": 2}
    assert {(one["passed"], one["failed"]) for one in found["results"]} == {(1, 3)}
    assert json.loads(run("execute_campaign", name, json=True)[1])["states"] == {"known": 2}
    assert json.loads(run("execute_campaign", name, json=True, again=True)[1])["states"] == {
        "failed": 2
    }
    assert sorted(Execution.objects.values_list("times", flat=True)) == [2, 2]


def test_missing_sandbox_is_reported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    use(NOWHERE, monkeypatch)
    assert run("execute_campaign", name) == (
        2,
        "Nothing was run: user namespaces are off. Turn them on.",
    )
    assert not Execution.objects.exists()
    status, printed = run("execute_campaign", name, json=True, queue=True)
    assert status == 0 and json.loads(printed)["states"] == {"waiting": 2}
    assert CaseRun.objects.count() == 2


def test_what_is_not_there_is_said(name: str) -> None:
    assert run("execute_campaign", "Nowhere")[0] == 2
    CaseSet.objects.all().delete()
    said = (2, "No statement of this study has sandbox tests.")
    assert run("execute_campaign", name, queue=True) == said


WHOLE = on_machine(lambda prepared: world_seen(run_seen()))


def test_the_report_has_no_verdict() -> None:
    for others in ({"not run": 1}, {"to_run": 1}):
        for failed in (0, 1):
            one = Executed(
                statement="", expert=FinalScore.CORRECT, passed=5, failed=failed, others=others
            )
            assert one.outcome == "no_verdict", (others, failed)


def test_nor_has_the_desk() -> None:
    for states, outcome in (
        (("passed", "not run"), "no_verdict"),
        (("failed", "not run"), "no_verdict"),
        (("passed", "failed"), "failed"),
    ):
        results: Any = [
            SimpleNamespace(execution=Execution(state=state, passed=3, failed=state == "failed"))
            for state in states
        ]
        assert outcome_of(results) == outcome, states


@pytest.mark.django_db
def test_a_campaign_runs_again_what_was_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def use(found: Availability) -> None:
        for module in (executing, execute_campaign):
            monkeypatch.setattr(module, "current_sandbox", lambda: found)

    study = make_study(
        by=make_person("mona", "manager"), reviewers=[make_person("rita", "reviewer")], items=1
    )
    write_cases("List the files of case-0")
    use(WHOLE)
    run("execute_campaign", study.name, json=True)
    assert Execution.objects.exclude(state="not run").count() == 2
    Execution.objects.update(state="not run", reason="the helper did not answer")
    use(WHOLE)
    assert '"known"' not in run("execute_campaign", study.name, json=True)[1]
    assert '"known": 2' in run("execute_campaign", study.name, json=True)[1]
