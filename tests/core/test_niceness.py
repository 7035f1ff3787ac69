"""Tests for niceness across sessions, as the kernel reports and applies it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pytest

from core import niceness
from core.niceness import session_niceness, set_session_niceness

pytestmark = pytest.mark.skipif(session_niceness() is None, reason="the kernel has no autogroups")

_NICE = "from core.niceness import become_nice_session; become_nice_session(15)"
_SPIN = "import os; os.sched_setaffinity(0, [{cpu}]); print(flush=True)\nwhile True: pass"


@contextmanager
def in_own_session(code: str) -> Iterator[subprocess.Popen[str]]:
    """Run Python code in a new session and kill the process after the block."""
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def test_nice_session_leader_has_niceness_of_process_and_session() -> None:
    with in_own_session(f"{_NICE}; print(flush=True); input()") as process:
        assert process.stdout and process.stdout.readline() == "\n"
        assert session_niceness(process.pid) == 15
        assert os.getpriority(os.PRIO_PROCESS, process.pid) == 15


@pytest.mark.parametrize(
    ("patience", "accepted", "writes"),
    [pytest.param(5.0, True, 3, id="patient"), pytest.param(0.0, False, 1, id="impatient")],
)
def test_write_that_kernel_refuses_for_now_is_retried_until_patience_ends(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, patience: float, accepted: bool, writes: int
) -> None:
    tries = []

    def refuse_twice(path: str, mode: str) -> IO[str]:
        tries.append(path)
        if len(tries) < 3:
            raise BlockingIOError
        return (tmp_path / "autogroup").open(mode)

    monkeypatch.setattr(niceness, "open", refuse_twice, raising=False)
    assert set_session_niceness(4, pid=17, patience=patience) is accepted
    assert tries == ["/proc/17/autogroup"] * writes


def _cpu_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.nightly
def test_nice_session_gets_at_most_a_tenth_of_a_shared_processor() -> None:
    cpu = min(os.sched_getaffinity(0))
    spin = _SPIN.format(cpu=cpu)
    with in_own_session(spin) as normal, in_own_session(f"{_NICE}\n{spin}") as nice:
        for process in (normal, nice):
            assert process.stdout and process.stdout.readline() == "\n"
        before = _cpu_seconds(normal.pid), _cpu_seconds(nice.pid)
        deadline = time.monotonic() + 120
        while (of_normal := _cpu_seconds(normal.pid) - before[0]) < 1.5:
            assert time.monotonic() < deadline, "the processor is used by others"
            time.sleep(0.1)
        of_nice = _cpu_seconds(nice.pid) - before[1]
        assert of_nice <= 0.1 * (of_normal + of_nice)
