"""Tests that the analysis reports the findings listed in the first line of each file in tests/cases/scripts.

`code@line` is a finding of the risk check or the character check. All of these findings must be listed. `?code@line` is
an unscored finding. `syntax=error@line` and `shellcheck=SC1234@line` refer to Bash and ShellCheck. The scripts are read
but never run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from catalog.analysis import (
    Finding,
    Outcome,
    Report,
    analyse_static,
    check_shellcheck,
    check_syntax,
)

CASES = Path(__file__).parents[2] / "cases" / "scripts"


def read_case(path: Path) -> tuple[str, list[str]]:
    script = path.read_bytes().decode()
    first = script.splitlines()[0]
    assert first.startswith("# expect: "), f"{path.name} does not say what is expected"
    return script, first.removeprefix("# expect: ").split()


def name_finding(found: Finding) -> str:
    mark = "?" if found.outcome is Outcome.UNSCORED else ""
    return f"{mark}{found.code}@{found.line}"


def name_static(report: Report) -> set[str]:
    return {name_finding(found) for found in (*report.problems, *report.unscored)}


def name_syntax(found: Finding) -> str:
    if found.outcome is not Outcome.FAILED:
        return f"syntax={found.outcome}"
    return f"syntax={found.level}@{found.line}"


def test_the_script_has_the_findings_that_its_first_line_names(subtests: pytest.Subtests) -> None:
    for path in sorted(CASES.glob("*.sh")):
        with subtests.test(path.stem):
            script, expected = read_case(path)
            report = analyse_static(script)
            assert name_static(report) == {word for word in expected if "=" not in word}
            for word in expected:
                key, _, value = word.partition("=")
                if key == "side_effect":
                    assert report.side_effect == value
                elif key == "risk":
                    assert report.risk == value
            if syntax := {word for word in expected if word.startswith("syntax=")}:
                assert {name_syntax(found) for found in check_syntax(script)} == syntax
            if comments := {word for word in expected if word.startswith("shellcheck=")}:
                found = {
                    f"shellcheck={found.code}@{found.line}" for found in check_shellcheck(script)
                }
                assert comments <= found
