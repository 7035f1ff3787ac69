from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.supervision.children import Child, Program
from scriptsmith_site.embedded.supervision.restarts import Restarts
from scriptsmith_site.embedded.supervision.supervisor import Options, Supervisor


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    return clock


def test_what_dies_again_and_again_is_started_ever_later_and_then_no_more(clock: Clock) -> None:
    restarts = Restarts()
    delays = []
    while restarts.note_end():
        delays.append(restarts.due_at - clock.now)
        clock.now = restarts.due_at
        restarts.note_start()
    assert delays == [0.5, 1, 2, 4, 8]


class Part:
    """A server or program that the test kills."""

    def __init__(self, name: str) -> None:
        self.name, self.how, self.starts = name, "", 0

    def how_ended(self) -> str:
        return self.how

    def start(self) -> None:
        self.how, self.starts = "", self.starts + 1


def test_parts_killed_again_and_again_never_stop_the_product_and_count_apart(
    clock: Clock, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as listener:
        options = Options(bind="127.0.0.1", port=0, demo_model=False)
        supervisor = Supervisor(Layout(tmp_path), listener, None, lambda _port: None, options)
    often, once = Part("PostgreSQL"), Part("Redis")
    supervisor._restarts = {often: Restarts(), once: Restarts()}
    delays = []
    for end in range(1, 13):
        often.how = f"PostgreSQL (process {end}) was killed by SIGKILL."
        killed_at = clock.now
        while often.starts < end:
            supervisor._revive(often, often.start)
            clock.now += 0.25
        delays.append(clock.now - killed_at)
    assert delays == sorted(delays) and delays[0] < 1 and 50 < delays[-1] < 62
    once.how = "Redis (process 99) was killed by SIGKILL."
    supervisor._revive(once, once.start)
    clock.now += 0.5
    supervisor._revive(once, once.start)
    assert once.starts == 1, "the ends of another part do not delay it"
    [*_, last] = capsys.readouterr().out.splitlines()
    assert last == "Redis (process 99) was killed by SIGKILL. It restarts in 0.5 s."


def test_end_names_process_and_signal_and_quotes_the_log_only_after_an_error(
    tmp_path: Path,
) -> None:
    wrote = "import os, sys; print('an old traceback', file=sys.stderr, flush=True)\n"
    child = Child(Program("worker", lambda: None, grace=1.0), logs=tmp_path)
    ends = {
        "os.kill(os.getpid(), 9)": "was killed by SIGKILL.",
        "os.kill(os.getpid(), 40)": "was killed by signal 40.",
        "sys.exit(0)": "ended with exit status 0.",
        "sys.exit(3)": "ended with exit status 3. Its log ends with: an old traceback",
    }
    shown = {}
    for lines in ends:
        command = [sys.executable, "-c", wrote + lines]
        with child.log.open("ab") as log:
            process = subprocess.Popen(command, stderr=log, start_new_session=True)
        child._process, child._status = process, None
        process.wait(60)
        shown[lines] = child.how_ended().replace(str(process.pid), "PID")
    assert shown == {lines: f"The worker (process PID) {how}" for lines, how in ends.items()}


def test_starts_that_fail_count_like_ends(clock: Clock) -> None:
    restarts = Restarts()
    clock.now += 1000
    tries = 0
    while restarts.note_end():
        clock.now = restarts.due_at
        tries += 1
    assert tries == 5


def test_what_has_run_for_a_while_is_forgiven_its_past(clock: Clock) -> None:
    restarts = Restarts()
    for _ in range(20):
        assert restarts.note_end()
        assert restarts.due_at == clock.now + 0.5
        restarts.note_start()
        clock.now += 61
