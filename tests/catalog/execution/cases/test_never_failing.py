"""A check that could never fail is refused where it is written, and one that could is not."""

from __future__ import annotations

import json

import pytest

from catalog.execution.cases import CaseRefused, read_case_set, run_case
from catalog.execution.cases.expressions import find_never_failing
from catalog.execution.sandbox import Entry
from tests.catalog.execution.cases.writing import case_data, make_case, set_data
from tests.catalog.execution.scripted import ScriptedSandbox, run_seen, world_seen

RM = {"command": "rm", "args": ["-rf", "**"]}
NO_RM = {"check": "not_called", "call": RM}
SET = "\\A(?![\\s\\S]*PasswordAuthentication yes)"


def entry(content: str) -> Entry:
    return Entry("file", 0o644, len(content), 1, content, None, content)


UNSEEN = [
    NO_RM,
    {"check": "called", "call": RM},
    {"check": "called_before", "call": {"command": "nginx"}, "then": RM},
    {"check": "together", "of": [{"check": "stderr_empty"}, NO_RM]},
]


def test_a_call_that_nobody_records_is_never_seen(subtests: pytest.Subtests) -> None:
    for expected in UNSEEN:
        with subtests.test(str(expected)):
            text = json.dumps(set_data(case_data(expected)))
            with pytest.raises(CaseRefused, match="no call of `rm` is recorded"):
                read_case_set(text)
            assert read_case_set(text, is_kept=True).cases, (
                "what an earlier release accepted is still read"
            )
            read_case_set(
                json.dumps(
                    set_data(case_data(expected, world={"commands": {"rm": [{"args": ["**"]}]}}))
                )
            )


def test_a_pattern_that_forbids_a_text_can_fail() -> None:
    assert find_never_failing([SET, "\\A(?![\\s\\S]*Permit\\s+yes)", "^(?!x)"]) == []
    assert find_never_failing(["(?!x)", ".*", "x?"]) == ["(?!x)", ".*", "x?"]


LACKING = [
    ("PasswordAuthentication no\n", "passed", ""),
    ("PasswordAuthentication yes\n", "failed", "it reads `PasswordAuthentication yes\\n`"),
    (None, "failed", "there is no such file"),
]


def test_that_a_file_lacks_a_text_can_be_said_plainly(subtests: pytest.Subtests) -> None:
    for content, state, got in LACKING:
        with subtests.test(got):
            text = "PasswordAuthentication yes"
            case = make_case({"check": "content", "path": "/etc/ssh/sshd_config", "lacks": text})
            after = {} if content is None else {"/etc/ssh/sshd_config": entry(content)}
            sandbox = ScriptedSandbox(lambda _run, after=after: world_seen(run_seen(after=after)))
            (found,) = run_case(case, ":", sandbox).checks
            assert (found.state.value, found.got) == (state, got)
            assert (
                found.sentence
                == f"`/etc/ssh/sshd_config` is then there and does not contain `{text}`"
            )


def test_several_checks_count_as_one_and_each_can_fail_it() -> None:
    case = make_case(
        {
            "check": "together",
            "of": [{"check": "exit_status", "equals": 0}, {"check": "added", "exactly": []},
                   {"check": "second_run_same_output"}],
        }
    )  # fmt: skip
    assert case.needs_second_run
    for first, second, got in (
        ({}, {}, ""),
        ({"status": 1}, {"status": 1}, "ends with success (0): it ended with status 1"),
        ({"after": {"/x": entry("")}}, {}, "adds no file: also `/x`"),
        ({}, {"stdout": "x"}, "prints the same and ends with the same status when it is run again:"
                              " it then printed `x`, with status 0"),
    ):  # fmt: skip
        seen = world_seen(run_seen(**first), run_seen(**second))
        (found,) = run_case(case, ":", ScriptedSandbox(lambda prepared, seen=seen: seen)).checks  # type: ignore[misc]
        assert (found.state.value, found.got) == ("failed" if got else "passed", got)
    assert found.sentence == (
        "ends with success (0); adds no file;"
        " and prints the same and ends with the same status when it is run again"
    )


BAD_TODAY = {"check": "content", "path": "/srv/a", "matches": "[{date:%F}]"}


def test_a_pattern_is_read_with_its_dates_filled_in() -> None:
    with pytest.raises(CaseRefused, match="A pattern cannot be read"):
        read_case_set(json.dumps(set_data(case_data(BAD_TODAY))))


def test_one_that_a_date_spoils_is_not_run_and_ends_nothing() -> None:
    """It was kept when the day made no difference, or by an earlier release."""
    case = read_case_set(json.dumps(set_data(case_data(BAD_TODAY))), is_kept=True).cases[0]
    seen = world_seen(run_seen(after={"/srv/a": entry("x")}))
    result = run_case(case, ":", ScriptedSandbox(lambda prepared: seen))
    assert result.state == "not run"
    assert "its pattern cannot be read: " in result.checks[0].got
