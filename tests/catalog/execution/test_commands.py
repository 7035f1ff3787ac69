"""Tests for `sandbox_probe` and `run_cases` as users and programs see them."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from catalog.execution.sandbox import Availability, Sandbox
from catalog.management.commands import run_cases, sandbox_probe
from tests.catalog.execution.cases.writing import case_data, set_data
from tests.catalog.execution.scripted import failing_in

NOWHERE = Availability(sandbox=None, reason="user namespaces are off.", remedy="Turn them on.")
OLD = {"path": "/srv/old.log", "age": "30d"}


def run(*words: str, **options: Any) -> tuple[int, str]:
    """Run the command and return its exit status and output."""
    printed = StringIO()
    try:
        call_command(*words, stdout=printed, **options)
    except SystemExit as error:
        return int(str(error.code)), printed.getvalue()
    except CommandError as error:
        return error.returncode, str(error)
    return 0, printed.getvalue()


@pytest.fixture
def cases(tmp_path: Path) -> str:
    path = tmp_path / "cases.json"
    removes = {"check": "removed", "exactly": ["/srv/old.log"]}
    path.write_text(json.dumps(set_data(case_data(removes, world={"files": [OLD]}))))
    return str(path)


def write_script(folder: Path, text: str) -> str:
    path = folder / "script.sh"
    path.write_text(text)
    return str(path)


@pytest.mark.slow
def test_probe_prints_sandbox_and_programs(sandbox: Sandbox, availability: Availability) -> None:
    assert run("sandbox_probe") == (0, f"{availability}\n")
    status, printed = run("sandbox_probe", json=True)
    assert json.loads(printed)["sandbox"] == "bubblewrap"


def test_without_a_sandbox_the_probe_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox_probe, "find_sandbox", lambda: NOWHERE)
    assert run("sandbox_probe") == (1, "unavailable: user namespaces are off. Turn them on.\n")


RESULTS = [
    ("rm /srv/old.log\n", 0, "  + removes exactly `/srv/old.log`"),
    ("true\n", 1, "  - removes exactly `/srv/old.log` (failed: missing: `/srv/old.log`; actual: nothing)"),
    ("kubectl delete pod x\n", 1, "  ? removes exactly `/srv/old.log`"
     " (unsupported: no stubbed reply for `kubectl delete pod x`)"),
]  # fmt: skip


def test_cases_are_run_on_a_script(sandbox: Sandbox, cases: str, tmp_path: Path) -> None:
    for script, status, line in RESULTS:
        found, printed = run("run_cases", cases, write_script(tmp_path, script))
        assert (found, printed.splitlines()[1]) == (status, line)


@pytest.mark.slow
def test_document_has_results_and_quality(sandbox: Sandbox, cases: str, tmp_path: Path) -> None:
    script = write_script(tmp_path, "rm /srv/old.log; printf 'a\\033[2J\\377'\n")
    status, printed = run("run_cases", cases, script, json=True, quality=True)
    document = json.loads(printed)
    assert status == 0
    assert document["checks"]["passed"] == 1
    assert document["cases"][0]["seen"]["removed"] == ["/srv/old.log"]
    assert document["cases"][0]["seen"]["stdout"] == "a\\x1b[2J\\xff"
    # The sandbox test does not check the output.
    (not_noticed,) = document["quality"]["not_noticed"]
    assert not_noticed.startswith("`printf ")
    assert document["sentence"].startswith("1 of 1 check passed in 1 scenario; the tests catch")


def test_without_a_sandbox_nothing_is_run(
    monkeypatch: pytest.MonkeyPatch, cases: str, tmp_path: Path
) -> None:
    monkeypatch.setattr(run_cases, "find_sandbox", lambda: NOWHERE)
    mark = tmp_path / "ran"
    status, printed = run("run_cases", cases, write_script(tmp_path, f"touch {mark}"), json=True)
    document = json.loads(printed)
    assert status == 2
    assert document["cases"][0]["state"] == "not run"
    assert document["cases"][0]["checks"][0]["got"] == NOWHERE.reason + " " + NOWHERE.remedy
    assert document["fingerprint"] is None
    assert not mark.exists()


def test_what_cannot_be_read_is_said_in_a_line(cases: str, tmp_path: Path) -> None:
    script = write_script(tmp_path, ":")
    assert run("run_cases", str(tmp_path / "none"), script)[0] == 2
    assert run("run_cases", script, script) == (
        2,
        "Invalid JSON: expected value at line 1 column 1.",
    )
    (tmp_path / "latin").write_bytes(b"\xff")
    assert run("run_cases", cases, str(tmp_path / "latin")) == (2, "The script is not valid UTF-8.")


@pytest.mark.slow
def test_printed_controls_are_escaped(sandbox: Sandbox, cases: str, tmp_path: Path) -> None:
    told = json.loads(Path(cases).read_text())
    told["cases"][0]["expect"] = [
        {"check": "stdout_lines", "exactly": []},
        {"check": "added", "exactly": []},
        {"check": "stderr_empty"},
    ]
    Path(cases).write_text(json.dumps(told))
    script = write_script(
        tmp_path,
        "printf '\\033]8;;https://evil.example\\033\\\\click\\033]8;;\\033\\\\ \\u202egnp.exe\\u2066 \\033[2J'\n"
        "touch \"/srv/$(printf '\\u202efdp.sh\\033[1A')\"; printf '\\r\\033[Kall is well' >&2\n",
    )
    for quality in (False, True):
        status, printed = run("run_cases", cases, script, quality=quality)
        assert status == 1
        assert not [sign for sign in printed if sign in "\x1b\r\x07\u202e\u2066"]
        for shown in (
            "\\x1b]8;;https://evil.example",
            "\\u202egnp.exe",
            "\\u202efdp.sh\\x1b[1A",
            "\\x0d",
        ):
            assert shown in printed


def test_partial_run_says_so(monkeypatch: pytest.MonkeyPatch, cases: str, tmp_path: Path) -> None:
    told = json.loads(Path(cases).read_text())
    (case,) = told["cases"]
    case["expect"] = [{"check": "exit_status", "equals": 0}]
    second = {**case, "title": "another", "world": {"arguments": ["second"]}}
    Path(cases).write_text(json.dumps({**told, "cases": [case, second]}))
    monkeypatch.setattr(run_cases, "find_sandbox", lambda: failing_in("second"))
    status, printed = run("run_cases", cases, write_script(tmp_path, ":"))
    assert status == 1
    assert "  ? exits 0 (not run: the helper did not answer)" in printed
    assert printed.splitlines()[-1] == "1 of 1 check passed in 1 scenario; 1 not run."
