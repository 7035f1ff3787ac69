"""Only a check that fails notices an error: one that has no verdict says nothing of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from catalog.execution.cases import run_case_set
from catalog.execution.quality import Quality, describe, measure_quality, quality_document
from catalog.execution.quality.stored import read_document
from catalog.execution.sandbox import Ended, Observation, PreparedRun, SandboxFailed
from tests.catalog.execution.cases.writing import case_data, make_set
from tests.catalog.execution.scripted import on_machine, run_seen, world_seen

RIGHT = "find /srv -mtime +7 -delete"


def measured(wrong: Callable[[], Observation]) -> tuple[Quality, str]:
    """Of a case that the right script passes, while each script with a small error does something else."""

    def answer(prepared: PreparedRun) -> Observation:
        return world_seen(run_seen()) if prepared.script == RIGHT else wrong()

    found = on_machine(answer)
    cases = make_set(case_data({"check": "exit_status", "equals": 0}))
    execution = run_case_set(cases, RIGHT, found)
    assert found.sandbox is not None
    quality = measure_quality(cases, RIGHT, execution, found.sandbox, most_mutants=3)
    assert quality is not None
    return quality, describe(execution, quality)


def test_a_check_that_fails_notices_it() -> None:
    quality, line = measured(lambda: world_seen(run_seen(status=1)))
    assert (quality.mutants, quality.noticed) == (3, 3)
    assert line == "1 of 1 check holds in 1 world; the cases notice 3 of 3 small errors."


@pytest.mark.parametrize(
    "seen",
    [
        pytest.param({"ended": Ended.TIMED_OUT, "status": None}, id="ended at a limit"),
        pytest.param({"status": 127, "stderr": "x: line 1: jq: command not found\n"}, id="unsupported"),
    ],
)  # fmt: skip
def test_what_ends_without_a_verdict_is_counted_apart(seen: dict[str, object]) -> None:
    quality, line = measured(lambda: world_seen(run_seen(**seen)))
    assert (quality.noticed, quality.survivors) == (0, ())
    assert len(quality.without_verdict) == 3
    assert "the cases notice 0 of 3 small errors; 3 of them end without a verdict" in line
    document = quality_document(quality)
    stored = read_document({"sentence": line, "worlds": [], "quality": document})
    assert len(stored["quality"]["without_verdict"]) == 3
    del document["without_verdict"]  # as the release before wrote it
    assert read_document({"quality": document})["quality"]["without_verdict"] == []


def test_what_could_not_be_run_notices_nothing() -> None:
    def fail() -> Observation:
        raise SandboxFailed("the helper did not answer")

    quality, _ = measured(fail)
    assert (quality.noticed, len(quality.without_verdict)) == (0, 3)
