"""What was not run in part counts as no verdict, in the report, on the desk and in what is known already."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from catalog.execution.sandbox import Availability
from catalog.models import Execution
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

WHOLE = on_machine(lambda prepared: world_seen(run_seen()))


@pytest.mark.parametrize("others", [{"not run": 1}, {"to_run": 1}])
@pytest.mark.parametrize("failed", [0, 1])
def test_the_report_has_no_verdict(others: dict[str, int], failed: int) -> None:
    one = Executed(statement="", expert=FinalScore.CORRECT, passed=5, failed=failed, others=others)
    assert one.outcome == "no_verdict"


@pytest.mark.parametrize(
    "states, outcome",
    [(("passed", "not run"), "no_verdict"), (("failed", "not run"), "no_verdict"), (("passed", "failed"), "failed")],
)  # fmt: skip
def test_nor_has_the_desk(states: tuple[str, ...], outcome: str) -> None:
    results: Any = [
        SimpleNamespace(execution=Execution(state=state, passed=3, failed=int(state == "failed")))
        for state in states
    ]
    assert outcome_of(results) == outcome


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
