"""The report as a whole: everything in one call, bound to script and versions."""

from __future__ import annotations

import hashlib

import pytest

from catalog.analysis import (
    Finding,
    Level,
    Outcome,
    Risk,
    SideEffect,
    UnreadableScript,
    analyse,
    analyse_static,
    has_errors,
    risk_level,
    side_effect,
)

GOOD = '#!/usr/bin/env bash\nset -euo pipefail\ndf -h "${1:?folder}"\n'


def test_a_good_script_passes_every_check() -> None:
    report = analyse(GOOD)
    assert {found.check: found.outcome for found in report.findings} == {
        "bash-syntax": Outcome.PASSED,
        "shellcheck": Outcome.PASSED,
        "risk": Outcome.PASSED,
        "characters": Outcome.PASSED,
    }
    assert (report.syntax_ok, report.side_effect, report.risk) == (True, "read_only", "low")
    assert not report.problems and not report.unscored and not has_errors(report)


def test_the_report_is_bound_to_the_script_and_to_versions() -> None:
    report = analyse(GOOD)
    assert report.sha256 == hashlib.sha256(GOOD.encode()).hexdigest()
    assert set(report.versions) == {"bash-syntax", "shellcheck", "risk", "characters"}
    assert all(version and version != "unknown" for version in report.versions.values())


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param("if\n", True, id="bash refuses it"),
        pytest.param('a=(1 2)\necho "$a[0]"\n', True, id="an error of ShellCheck"),
        pytest.param("ls $1\n", False, id="advice of ShellCheck"),
        pytest.param("rm -rf /\n", False, id="a risk is no error"),
        pytest.param("cat <<E\nx\n", True, id="an open heredoc"),
    ],
)
def test_what_counts_as_an_error(script: str, expected: bool) -> None:
    assert has_errors(analyse(script)) is expected


def test_the_static_report_asks_no_other_program() -> None:
    report = analyse_static("rm -rf /srv/x\n")
    assert report.syntax_ok is None
    assert {found.check for found in report.findings} == {"risk", "characters"}
    assert report.risk is Risk.HIGH


def test_side_effect_alone() -> None:
    assert side_effect("uptime") is SideEffect.READ_ONLY
    assert side_effect("touch x") is SideEffect.MUTATING
    assert side_effect("frobnicate") is SideEffect.UNKNOWN


def risk(level: Level, code: str, outcome: Outcome = Outcome.FAILED) -> Finding:
    return Finding(
        check="risk", version="1", outcome=outcome, level=level, code=code, message="..."
    )


@pytest.mark.parametrize(
    ("findings", "effect", "expected"),
    [
        pytest.param([], SideEffect.READ_ONLY, Risk.LOW, id="reads"),
        pytest.param([], SideEffect.UNKNOWN, Risk.MEDIUM, id="unknown is never low"),
        pytest.param([], SideEffect.MUTATING, Risk.MEDIUM, id="changes"),
        pytest.param(
            [risk(Level.INFO, "network")], SideEffect.READ_ONLY, Risk.LOW, id="reads from afar"
        ),
        pytest.param(
            [risk(Level.WARNING, "unbounded_loop")], SideEffect.READ_ONLY, Risk.MEDIUM, id="endless"
        ),
        pytest.param(
            [risk(Level.WARNING, "destructive")], SideEffect.MUTATING, Risk.HIGH, id="deletes"
        ),
        pytest.param(
            [risk(Level.INFO, "destructive")], SideEffect.MUTATING, Risk.MEDIUM, id="one file"
        ),
        pytest.param(
            [risk(Level.ERROR, "remote_code")], SideEffect.UNKNOWN, Risk.HIGH, id="remote code"
        ),
        pytest.param(
            [risk(Level.ERROR, "x", Outcome.UNSCORED)],
            SideEffect.READ_ONLY,
            Risk.LOW,
            id="unscored",
        ),
    ],
)
def test_the_risk_level(findings: list[Finding], effect: SideEffect, expected: Risk) -> None:
    assert risk_level(findings, effect) is expected


def test_text_that_is_no_script_is_refused_by_all() -> None:
    for function in (analyse, analyse_static, side_effect):
        with pytest.raises(UnreadableScript, match="NUL"):
            function("echo \0")
