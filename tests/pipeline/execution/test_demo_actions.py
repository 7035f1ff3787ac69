"""Tests that each of the demo's action files has its intended course."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from enum import Enum, auto
from pathlib import Path
from typing import Literal

import pytest
import yaml
from pydantic import BaseModel, ConfigDict, Field

from catalog.analysis.shellcheck import find_shellcheck
from pipeline.standin.script_book import load_book

PROJECT = Path(__file__).resolve().parents[3]
ACTIONS = PROJECT / "pipeline" / "demo" / "actions"
STARTER = PROJECT / "catalog" / "starter"
KINDS = {
    "different-interpretation",
    "too-strict",
    "wrong-expected-output",
    "feedback-helps",
    "self-doubt",
}


class Course(Enum):
    """The course of an action: whether its first draft is correct, and what the assessor decides."""

    RIGHT = auto()  # correct and passed
    SELF_DOUBT = auto()  # correct, flagged, and broken by the refinement
    FALSE_ALARM = auto()  # correct and flagged, but the explanation finds no error
    FIXED = auto()  # wrong, flagged, and correct after the refinement
    NOT_FIXED = auto()  # wrong, flagged, and still wrong after the refinement
    MISSED = auto()  # wrong but passed, so an expert must catch the error


_NAMES = {
    Course.RIGHT: """01-delete-old-exports 02-tenant-disk-space 03-count-database-connections 04-swap-in-use
        08-most-open-descriptors 09-expiring-haproxy-certificates 10-set-swappiness
        11-images-in-payments 12-last-change-of-limits 13-docker-log-sizes 28-wait-for-gateway
        31-bounce-nginx 32-lock-holders 33-who-has-the-port 34-gzip-big-nginx-logs""",
    Course.SELF_DOUBT: "06-recently-read-models 07-mirror-web-root",
    Course.FALSE_ALARM: "30-single-nightly-etl",
    Course.FIXED: """05-staging-yaml-files 14-count-files-with-deadlock 16-archive-etc 17-changed-nginx-files
        18-largest-homes 19-replace-database-host 20-delete-evicted-pods 29-alarm-on-full-root""",
    Course.NOT_FIXED: "27-expiring-passwords",
    Course.MISSED: """15-archive-recent-invoices 21-end-old-etl-connections 22-keep-five-releases
        23-disable-ssh-passwords 24-restart-large-sidekiq 25-dump-orders-and-clean-up
        26-distinct-clients-with-errors""",
}
COURSES = {name: course for course, names in _NAMES.items() for name in names.split()}
REPAIRED = {"28-wait-for-gateway", "29-alarm-on-full-root"}
# Starter entries answer these actions, although their wording is different.
ANSWERED = {
    "31-bounce-nginx": "restart-nginx-if-valid",
    "32-lock-holders": "show-blocking-sessions",
    "33-who-has-the-port": "show-port-listener",
    "34-gzip-big-nginx-logs": "compress-large-nginx-logs",
}


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Similarity(Strict):
    verdict: Literal["match", "mismatch"]
    reason: str = Field(min_length=1)


class Difference(Similarity):
    differences: list[str]


class Explanation(Strict):
    verdict: Literal["error", "no_error"]
    points: list[str] = Field(min_length=1, max_length=3)


class Draft(Strict):
    script: str = Field(pattern=r"^#!/usr/bin/env bash\n")
    functionality: str | None = None
    similarity: Similarity | None = None
    difference: Difference | None = None
    explanation: Explanation | None = None
    repaired_by: int | None = None

    @property
    def is_flagged(self) -> bool:
        return "mismatch" in (v.verdict for v in (self.similarity, self.difference) if v)


class Action(Strict):
    statement: str = Field(min_length=10)
    context: str = Field(min_length=10)
    kind: str | None = None
    severity: int = Field(ge=1, le=4)
    target: str = Field(min_length=1)
    impact: str = Field(min_length=10)
    reference: str | None = None
    execution: float | None = Field(default=None, ge=0, le=1)
    drafts: list[Draft] = Field(min_length=1)

    @property
    def assessed(self) -> list[Draft]:
        """Return the drafts that receive a verdict. Repaired drafts receive no verdict."""
        return [draft for draft in self.drafts if draft.repaired_by is None]


def read_actions() -> Iterator[tuple[str, Action]]:
    for path in sorted(ACTIONS.glob("*.yaml")):
        yield path.stem, Action.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def actions() -> dict[str, Action]:
    return dict(read_actions())


def plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def test_each_file_has_its_course_and_enough_courses_are_shown(actions: dict[str, Action]) -> None:
    assert actions.keys() == COURSES.keys()
    shown = Counter(COURSES.values())
    assert set(shown) == set(Course)
    flagged_and_wrong = shown[Course.FIXED] + shown[Course.NOT_FIXED]
    assert 0.4 <= flagged_and_wrong / (flagged_and_wrong + shown[Course.MISSED]) <= 0.6


def test_assessor_follows_course(actions: dict[str, Action], subtests: pytest.Subtests) -> None:
    for name in sorted(COURSES):
        with subtests.test(name):
            course = COURSES[name]
            first, *refined = actions[name].assessed
            assert first.is_flagged == (course not in (Course.RIGHT, Course.MISSED))
            if course is Course.RIGHT:
                assert (first.explanation, refined) == (None, [])
                continue
            if course is Course.FALSE_ALARM:
                assert (first.explanation.verdict, refined) == ("no_error", [])
                continue
            assert first.explanation.verdict == "error"
            assert [draft.is_flagged for draft in refined] == [
                course in (Course.SELF_DOUBT, Course.NOT_FIXED)
            ]


def test_drafts_are_complete_and_described_from_the_script(actions: dict[str, Action]) -> None:
    for name, action in actions.items():
        for draft in action.assessed:
            assert draft.functionality and draft.similarity and draft.difference, name
            assert draft.explanation or not draft.is_flagged, name
            mismatch = draft.difference.verdict == "mismatch"
            assert bool(draft.difference.differences) == mismatch, name
    for name, action in actions.items():
        for draft in action.assessed:
            said = draft.functionality or ""
            assert 2 <= len(re.findall(r"\.(?:\s|$)", said)) <= 4, (name, said)
            assert not re.search(r"\b(statement|asked|incident|should)\b", said), (name, said)
            assert plain(action.statement) not in plain(said), name


def test_book_reads_every_file_without_ambiguity(actions: dict[str, Action]) -> None:
    drafts = [draft for action in actions.values() for draft in action.drafts]
    assert len({plain(action.statement) for action in actions.values()}) == len(actions)
    assert len({draft.script.strip() for draft in drafts}) == len(drafts)
    said = [draft.functionality for draft in drafts if draft.functionality]
    assert len(set(said)) == len(said)
    assert len(load_book(ACTIONS)) > len(actions)
    action = actions["01-delete-old-exports"]
    assert action.statement == "delete files older than 30 days in /var/tmp/exports"
    assert "find /var/tmp/exports -type f -mtime +30" in action.drafts[0].script


def test_kinds_of_case_are_all_shown_and_judged_by_execution(actions: dict[str, Action]) -> None:
    kinds = {action.kind for action in actions.values() if action.kind}
    assert kinds == KINDS
    for name, action in actions.items():
        assert (action.reference is None) == (action.execution is None), name
        assert action.kind is None or action.reference, name
    judged_wrong = [a for a in actions.values() if a.kind in KINDS - {"self-doubt"}]
    assert {action.execution for action in judged_wrong} == {0.0}
    assert {a.execution for a in actions.values() if a.kind == "self-doubt"} == {1.0}


def test_no_statement_is_a_starter_entrys_own_wording(actions: dict[str, Action]) -> None:
    wordings = set()
    for path in STARTER.glob("*/metadata.yaml"):
        known = yaml.safe_load(path.read_text(encoding="utf-8"))
        wordings |= {plain(text) for text in (known["title"], *known["phrasings"])}
    assert [name for name, a in actions.items() if plain(a.statement) in wordings] == []
    assert [slug for slug in ANSWERED.values() if not (STARTER / slug).is_dir()] == []


@pytest.mark.slow
def test_checkers_refuse_only_repaired_texts(actions: dict[str, Action], tmp_path: Path) -> None:
    for name, action in actions.items():
        for number, draft in enumerate(action.drafts):
            (tmp_path / f"{name}.{number}").write_text(draft.script, encoding="utf-8")
    broken = {f"{name}.0" for name in REPAIRED}
    assert broken == {
        f"{name}.{number}"
        for name, action in actions.items()
        for number, draft in enumerate(action.drafts)
        if draft.repaired_by is not None
    }
    levels = shellcheck_levels(sorted(tmp_path.iterdir()))
    assert {file for file, level in levels if level == "error"} == broken
    assert not {file for file, _ in levels} & correct_drafts(actions)
    unparsed = {path.name for path in tmp_path.iterdir() if not parses(path)}
    assert unparsed == {"28-wait-for-gateway.0"}


def correct_drafts(actions: dict[str, Action]) -> set[str]:
    """Return the drafts that are correct in the end: the first draft if it is correct, otherwise its fix."""
    correct = set()
    for name, action in actions.items():
        last = len(action.drafts) - 1
        if COURSES[name] is Course.SELF_DOUBT:
            correct.add(f"{name}.0")
        elif COURSES[name] is not Course.NOT_FIXED:
            correct.add(f"{name}.{last}")
    return correct


def shellcheck_levels(files: list[Path]) -> set[tuple[str, str]]:
    """Return the file name and level of each ShellCheck comment."""
    shellcheck = find_shellcheck()
    done = subprocess.run(
        [shellcheck, "--norc", "--shell=bash", "--severity=style", "--format=json1", *files],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return {(Path(c["file"]).name, c["level"]) for c in json.loads(done.stdout)["comments"]}


def parses(path: Path) -> bool:
    done = subprocess.run(
        ["bash", "--norc", "-n", path], capture_output=True, timeout=10, check=False
    )
    return done.returncode == 0
