"""Tests that one call returns the whole report, with the hash of the script and the versions of the checks."""

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


ERRORS = {
    "if\n": True,
    'a=(1 2)\necho "$a[0]"\n': True,
    "ls $1\n": False,
    "rm -rf /\n": False,
    "cat <<E\nx\n": True,
}


def test_what_counts_as_an_error() -> None:
    assert {script: has_errors(analyse(script)) for script in ERRORS} == ERRORS


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


RISKS: list[tuple[list[Finding], SideEffect, Risk]] = [
    ([], SideEffect.READ_ONLY, Risk.LOW),
    ([], SideEffect.UNKNOWN, Risk.MEDIUM),
    ([], SideEffect.MUTATING, Risk.MEDIUM),
    ([risk(Level.INFO, "network")], SideEffect.READ_ONLY, Risk.LOW),
    ([risk(Level.WARNING, "unbounded_loop")], SideEffect.READ_ONLY, Risk.MEDIUM),
    ([risk(Level.WARNING, "destructive")], SideEffect.MUTATING, Risk.HIGH),
    ([risk(Level.INFO, "destructive")], SideEffect.MUTATING, Risk.MEDIUM),
    ([risk(Level.ERROR, "remote_code")], SideEffect.UNKNOWN, Risk.HIGH),
    ([risk(Level.ERROR, "x", Outcome.UNSCORED)], SideEffect.READ_ONLY, Risk.LOW),
]


def test_the_risk_level() -> None:
    wrong = [row for row in RISKS if risk_level(row[0], row[1]) is not row[2]]
    assert not wrong


def test_text_that_is_no_script_is_refused_by_all() -> None:
    for function in (analyse, analyse_static, side_effect):
        with pytest.raises(UnreadableScript, match="NUL"):
            function("echo \0")
