"""The cases of the demo's actions tell right drafts from wrong ones, of the kinds that the demo shows."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from catalog.execution.cases import State, read_case_set, run_case_set
from catalog.execution.sandbox import find_sandbox
from scriptsmith_site.demo import ACTIONS, CASES

# By draft, whether every check holds.
EXPECTED = {
    "01-delete-old-exports": [True],
    "05-staging-yaml-files": [False, True],  # -name for -path, mended by the feedback
    "06-recently-read-models": [True, False],  # right at first, broken by self-doubt
    "14-count-files-with-deadlock": [False, True],
}


def test_every_file_is_expected() -> None:
    assert {path.stem for path in CASES.glob("*.json")} == EXPECTED.keys()


@pytest.mark.parametrize("path", sorted(CASES.glob("*.json")), ids=lambda path: path.stem)
def test_which_drafts_hold(path: Path) -> None:
    found = find_sandbox()
    if found.sandbox is None:
        pytest.skip(f"no sandbox here: {found}")
    case_set = read_case_set(path.read_text())
    action = yaml.safe_load((ACTIONS / f"{path.stem}.yaml").read_text())
    assert case_set.statement == action["statement"]
    results = [run_case_set(case_set, one["script"], found) for one in action["drafts"]]
    holds = [
        all(check.state is State.PASSED for case in result.cases for check in case.checks)
        for result in results
    ]
    assert holds == EXPECTED[path.stem]
