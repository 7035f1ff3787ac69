"""Tests for Bash and ShellCheck as checkers, and for the messages if either is missing or fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.analysis import (
    Finding,
    Level,
    Outcome,
    UnreadableScript,
    check_shellcheck,
    check_syntax,
)
from catalog.analysis.syntax import TIMEOUT


def only(findings: list[Finding]) -> Finding:
    (finding,) = findings
    return finding


@pytest.fixture
def empty_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that replaces PATH and the folder of Python's scripts."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    return tmp_path


def install(folder: Path, name: str, body: str) -> None:
    program = folder / name
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)


SYNTAX = [
    ("echo a\n", "passed", "info", "syntax", None),
    ("", "passed", "info", "syntax", None),
    ("echo a\nfi\n", "failed", "error", "syntax", 2),
    ("x='a\n", "failed", "error", "syntax", 1),
    ("\ncat <<E\nx\n", "failed", "warning", "unclosed-heredoc", 2),
    ("x=$(cat <<E\n)", "failed", "error", "unclosed-heredoc", 1),
]


def test_what_bash_says() -> None:
    found = [(script, check_syntax(script)[0]) for script, *_ in SYNTAX]
    assert [(text, one.outcome, one.level, one.code, one.line) for text, one in found] == SYNTAX
    assert all(one.check == "bash-syntax" and one.version[0].isdigit() for _text, one in found)


def test_bash_reads_and_does_not_run(tmp_path: Path) -> None:
    check_syntax(f"touch {tmp_path}/made\n$(touch {tmp_path}/made)\n")
    assert list(tmp_path.iterdir()) == []


def test_what_the_environment_says_does_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "env").write_text(f"touch {tmp_path}/made\n")
    monkeypatch.setenv("BASH_ENV", str(tmp_path / "env"))
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert "unexpected" in only(check_syntax("if\n")).message
    assert not (tmp_path / "made").exists()


def test_text_that_is_no_script_is_refused() -> None:
    for script in ("echo \0", "\ud800", "#" * 1_000_001):
        for check in (check_syntax, check_shellcheck):
            with pytest.raises(UnreadableScript):
                check(script)


def test_a_missing_checker_is_no_pass(empty_path: Path) -> None:
    for found in (only(check_syntax("ls\n")), only(check_shellcheck("ls\n"))):
        assert (found.outcome, found.code) == (Outcome.UNSCORED, "not-checked")
        assert "not installed" in found.message


FAILING = {
    "kill -SEGV $$": "was killed by signal 11",
    "echo nonsense": "unreadable output",
    "echo '{\"comments\": [{}]}'": "unreadable output",
    "exit 4": "exit status 4",
    "exec sleep 30": "more than 0.2 s",
}


def test_a_failing_shellcheck_is_no_pass(empty_path: Path) -> None:
    version = 'case "$1" in --version) echo "version: 9.9"; exit;; esac'
    for body, message in FAILING.items():
        install(empty_path, "shellcheck", f"{version}\n{body}")
        found = only(check_shellcheck("ls\n", timeout=0.2 if "0.2" in message else 30))
        assert (found.outcome, found.version) == (Outcome.UNSCORED, "9.9"), body
        assert message in found.message


def test_a_bash_that_is_too_slow_is_no_pass() -> None:
    found = only(check_syntax("echo a\n" * 100_000, timeout=0.001))
    assert (found.outcome, found.code) == (Outcome.UNSCORED, "not-checked")
    assert TIMEOUT == 5.0


def test_shellcheck_points_at_the_place_and_writes_the_line() -> None:
    found = only(check_shellcheck("# é\n\tls $1\n"))
    assert (found.code, found.level, found.line, found.column) == ("SC2086", Level.INFO, 2, 5)
    assert (found.end_column, found.fix) == (7, '\tls "$1"')


def test_shellcheck_passes_a_good_script() -> None:
    found = only(check_shellcheck('#!/bin/zsh\necho "日本"\n'))
    assert (found.outcome, found.code) == (Outcome.PASSED, "clean")


def test_windows_line_ends_are_one_error_and_hide_nothing() -> None:
    line_ends, unquoted = check_shellcheck("# a\nif true; then\r\n  ls $1\r\nfi\r\n")
    assert (line_ends.code, line_ends.level, line_ends.line) == ("SC1017", Level.ERROR, 2)
    assert "3 lines" in line_ends.message
    assert (unquoted.code, unquoted.line) == ("SC2086", 3)


def test_a_script_cannot_pass_by_silencing_shellcheck() -> None:
    found = only(check_shellcheck("# shellcheck disable=all\nls $1\n"))
    assert (found.outcome, found.code, found.line) == (Outcome.UNSCORED, "silenced", 1)
