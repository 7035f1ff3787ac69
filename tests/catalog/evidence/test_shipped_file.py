"""The shipped results match the shipped cases and scripts; `python -m bench.ship results` renews them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import yaml

from catalog.evidence.services.shipped import BEFORE_RELEASE, FILE
from catalog.execution.cases import read_case_set
from catalog.models import Version
from catalog.models.evidence import ORIGIN
from pipeline.flow.reading.case_reader import make_case_set
from scriptsmith_site.demo import ACTIONS

STARTER = FILE.parent
ROWS = [json.loads(line) for line in FILE.read_text().splitlines()]
PAIRS = {(row["case_set"], row["script_sha256"]) for row in ROWS}


def starter_pairs() -> Iterator[tuple[str, str]]:
    for path in STARTER.glob("*/cases.json"):
        script = path.with_name("script.sh").read_text()
        yield read_case_set(path.read_text()).sha256, Version.hash_of(script)


def demo_pairs() -> Iterator[tuple[str, list[str]]]:
    """Yield the cases that the demo model writes for an action, and the hashes of its drafts."""
    for path in (ACTIONS.parent / "cases").glob("*.yaml"):
        action = yaml.safe_load((ACTIONS / path.name).read_text())
        written, _refused = make_case_set(
            yaml.safe_load(path.read_text())["cases"],
            statement=action["statement"].strip(),
            author="demo",
        )
        drafts = [f"{draft['script'].strip()}\n" for draft in action["drafts"]]
        yield written.sha256, [Version.hash_of(draft) for draft in drafts]


def test_every_starter_script_has_a_result_in_its_cases() -> None:
    assert not set(starter_pairs()) - PAIRS


def test_every_demo_case_set_has_a_result() -> None:
    missing = {sha256 for sha256, drafts in demo_pairs() if (sha256, drafts[0]) not in PAIRS}
    assert not missing


def test_no_result_is_of_a_script_that_has_changed() -> None:
    known = {script for _cases, script in starter_pairs()}
    known |= {draft for _cases, drafts in demo_pairs() for draft in drafts}
    assert not {script for _cases, script in PAIRS} - known


def test_every_result_is_complete_and_labeled() -> None:
    assert len(PAIRS) == len(ROWS)
    for row in ROWS:
        assert row["state"] in ("passed", "failed") and row["quality_at"], row["script_sha256"]
        assert row["fingerprint"][ORIGIN] == BEFORE_RELEASE
        assert {"bash", "coreutils"} <= row["fingerprint"].keys()
