"""Count the resources that each test tier uses, and fail a run that exceeds tests/budget.json.

Times differ between machines, so the budget limits counts. Counts of child processes vary by a few, because each xdist
worker caches the analysis of the scripts that it has seen. To raise a limit, change the file and add the reason to its
`raised`. A partial run of a tier is also compared, because its counts can only be lower.
"""

from __future__ import annotations

import json
import resource
import sys
from collections import Counter
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("budget.json")
TIERS = {
    "not slow and not nightly": "test",
    "slow and not nightly": "test-slow",
    "nightly": "test-nightly",
}
counted: Counter[str] = Counter()


def _count_processes(event: str, arguments: tuple[object, ...]) -> None:
    """Count child processes and started products. An audit hook sees every way to start a process."""
    if event == "subprocess.Popen":
        counted["child processes"] += 1
        if "scriptsmith_site.embedded" in str(arguments[1]):
            counted["products"] += 1


sys.addaudithook(_count_processes)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    counted["cases"] += 1
    marker = item.get_closest_marker("django_db")
    if marker is not None and marker.kwargs.get("transaction"):
        counted["transactional tests"] += 1


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: object, error: object) -> None:
    """Add the counts of an xdist worker to the totals."""
    counted.update(getattr(node, "workeroutput", {}).get("budget", {}))


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["budget"] = dict(counted)
    elif exceeded(session.config) and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def exceeded(config: pytest.Config) -> list[str]:
    """Return a sentence for each count that exceeds the budget of the current tier."""
    tier = TIERS.get(config.getoption("markexpr"))
    budget = json.loads(FILE.read_text()).get(tier, {})
    return [
        f"{tier} has {counted[name]} {name}; tests/budget.json allows {allowed}."
        for name, allowed in budget.items()
        if counted[name] > allowed
    ]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    config = terminalreporter.config
    if config.getoption("markexpr") in TIERS:
        counts = ", ".join(f"{count} {name}" for name, count in sorted(counted.items()))
        terminalreporter.write_line(f"Budget: {counts}.")
        for sentence in exceeded(config):
            terminalreporter.write_line(sentence, red=True)


def print_core_seconds() -> None:
    """Print the processor time of all tests and servers after the last process has exited."""
    used = [
        sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    ]
    print(f"Core-seconds: {sum(used):.0f}, with servers and child processes.")
