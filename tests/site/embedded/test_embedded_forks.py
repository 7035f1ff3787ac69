"""Tests for forks of a process with a single thread. Pytest has more threads, so each test forks from its own
program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.niceness import session_niceness
from scriptsmith_site.embedded.supervision import processes

_FORK = """
import atexit, os, signal, sys, time
from scriptsmith_site.embedded.supervision.forks import Fork

def fork(main, **options):
    with open("output", "w") as output, open("errors", "w") as errors:
        return Fork(main, title="forked", output=output.fileno(), errors=errors.fileno(), **options)
"""


def run(folder: Path, lines: str) -> str:
    """Run Python code after the definitions above, and return its output."""
    root = Path(__file__).resolve().parents[3]
    done = subprocess.run(
        [sys.executable, "-c", _FORK + lines],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(root)},
        text=True,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("main", "status", "error"),
    [
        pytest.param("lambda: None", 0, "", id="returns"),
        pytest.param("sys.exit", 0, "", id="exits"),
        pytest.param("lambda: sys.exit(3)", 3, "", id="exits with a number"),
        pytest.param("lambda: sys.exit('no disk')", 1, "no disk\n", id="exits with a message"),
        pytest.param("lambda: 1 / 0", 1, "ZeroDivisionError: division by zero\n", id="raises"),
        pytest.param("lambda: os.kill(os.getpid(), 9)", -9, "", id="is killed"),
    ],
)
def test_fork_ends_as_a_program_would(tmp_path: Path, main: str, status: int, error: str) -> None:
    lines = f"forked = fork({main})\nforked.wait()\nprint(forked.poll())"
    assert run(tmp_path, lines) == f"{status}\n"
    assert (tmp_path / "errors").read_text().endswith(error)


def test_fork_runs_exit_functions_and_flushes_its_output(tmp_path: Path) -> None:
    lines = "fork(lambda: (atexit.register(print, 'last'), print('first'))).wait()"
    assert run(tmp_path, lines) == ""
    assert (tmp_path / "output").read_text() == "first\nlast\n"


def test_fork_has_only_the_descriptors_it_is_given(tmp_path: Path) -> None:
    lines = """
lock, kept = os.open("lock", os.O_CREAT), os.open("kept", os.O_CREAT)
def show():
    print([name for name in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{name}")])
    print(os.readlink("/proc/self/fd/0"), os.fstat(kept).st_size)
fork(show, kept=(kept,)).wait()
print(kept)
"""
    kept = run(tmp_path, lines).strip()
    shown, other = (tmp_path / "output").read_text().splitlines()
    assert shown == str(["0", "1", "2", kept])
    assert other == "/dev/null 0"


def test_fork_has_a_session_and_a_title_and_ends_with_its_parent(tmp_path: Path) -> None:
    lines = """
forked = fork(lambda: time.sleep(300), niceness=7)
print(forked.pid, flush=True)
time.sleep(300)
"""
    root = Path(__file__).resolve().parents[3]
    parent = subprocess.Popen(
        [sys.executable, "-c", _FORK + lines],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(root)},
        text=True,
        stdout=subprocess.PIPE,
    )
    assert parent.stdout
    forked = int(parent.stdout.readline())
    deadline = time.monotonic() + 60
    while processes.command_line(forked) != ["forked"] or os.getpriority(0, forked) != 7:
        assert time.monotonic() < deadline, processes.command_line(forked)
        time.sleep(0.02)
    assert processes.command_name(forked) == "forked"
    assert os.getsid(forked) == forked
    while session_niceness(forked) not in (7, None):
        assert time.monotonic() < deadline, "the session has the niceness of its process"
        time.sleep(0.02)
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    assert processes.wait_until_gone([forked], 60)


def test_process_with_threads_may_not_fork(tmp_path: Path) -> None:
    lines = """
import threading
threading.Thread(target=time.sleep, args=(1,), daemon=True).start()
try:
    fork(lambda: None)
except AssertionError as error:
    print(error)
"""
    assert run(tmp_path, lines) == "only a process with one thread may fork\n"
