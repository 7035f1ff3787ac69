"""Report the combined results of the generated calls from all test workers at the end of the run."""

from __future__ import annotations

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = [
        said
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
        for name, said in report.user_properties
        if name == "fuzz"
    ]
    for line in sorted(lines):
        terminalreporter.write_line(str(line))
