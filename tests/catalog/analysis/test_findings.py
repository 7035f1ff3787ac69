"""Tests that the analysis reports the findings that tests/cases/findings.txt lists for each script."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from catalog.analysis import Report, Risk, SideEffect, analyse_static, mask_secrets
from tests.catalog.analysis.case_files import read_cases

ROOT = Path(__file__).parents[3]
SECTIONS = read_cases("findings.txt")
STATES = {*Risk, *SideEffect}
FINDING = re.compile(r"(\??)([\w|]+)(?:=(\w+))?(?:@(\d+))?")


def holds(expected: str, report: Report) -> bool:
    """Return whether the report meets all requirements in a field of the table."""
    field, _, words = expected.partition("~")
    for token in field.split():
        name = token.removeprefix("!")
        if name == "calm":
            is_there = report.risk is not Risk.HIGH
        elif name in STATES:
            is_there = name in (report.risk, report.side_effect)
        else:
            is_there = has_finding(name, words, report)
        if is_there is token.startswith("!"):
            return False
    return True


def has_finding(token: str, words: str, report: Report) -> bool:
    match = FINDING.fullmatch(token)
    assert match, token
    is_open, codes, level, line = match.groups()
    found = [
        one
        for one in (report.unscored if is_open else report.problems)
        if one.code in codes.split("|") and words in one.message
    ]
    if level and {one.level for one in found} != {level}:
        return False
    return any(not line or one.line == int(line) for one in found)


@pytest.mark.parametrize("section", SECTIONS)
def test_script_has_the_findings_of_the_table(section: str) -> None:
    wrong = {
        script: (expected, report.risk, report.side_effect, {f.code for f in report.findings})
        for expected, script in SECTIONS[section]
        if not holds(expected, report := analyse_static(script))
    }
    assert not wrong


def test_secret_is_masked_if_and_only_if_it_is_a_finding() -> None:
    wrong = [
        script
        for expected, script in SECTIONS["masked secrets"]
        if bool(mask_secrets(script).secrets) is expected.startswith("!")
    ]
    assert not wrong


def test_starter_scripts_are_read_as_scripts_for_a_shell() -> None:
    scripts = [path.read_text() for path in (ROOT / "catalog" / "starter").glob("*/script.sh")]
    assert len(scripts) > 80
    assert not [script for script in scripts if holds("?dialect", analyse_static(script))]
