"""Tests for `make run` with the small product, in the `used_place` of the full product."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import urllib.request
from collections.abc import Callable
from contextlib import suppress

import pytest

from core.niceness import session_niceness
from scriptsmith_site.embedded.servers.postgres import Postgres
from scriptsmith_site.embedded.supervision import processes
from scriptsmith_site.embedded.supervision.programs import SANDBOX_NICENESS

pytestmark = pytest.mark.slow

RUN = ("-m", "scriptsmith_site.embedded")
ELSEWHERE = {"SCRIPTSMITH_DEMO_MODEL_URL": "http://127.0.0.1:9"}


class Product:
    """A ready supervisor and its output."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.printed = ""
        for line in process.stdout:
            self.printed += line
            if "Press Ctrl-C to stop" in line:
                break
        found = re.search(r"ready: (\S+)", self.printed)
        assert found, self.printed + process.stderr.read()
        self.url = found[1]

    def answer(self, path: str = "healthz") -> str:
        with urllib.request.urlopen(self.url + path, timeout=180) as response:
            return response.read().decode()

    def end(self) -> tuple[int, str]:
        """Stop the supervisor, and return its exit status and its standard error output."""
        self.process.send_signal(signal.SIGTERM)
        _, complaint = self.process.communicate(timeout=180)
        return self.process.returncode, complaint


def kill(*processes: int) -> None:
    """Kill the processes that are still running. Some processes exit as soon as another process exits."""
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


@pytest.fixture
def start(used_place) -> Callable[..., Product]:
    return lambda **variables: Product(
        used_place.start(*RUN, **({"PORT": "0"} | ELSEWHERE | variables))
    )


def test_it_says_where_it_is_and_sigterm_leaves_nothing_running(used_place, start) -> None:
    product = start(SCRIPTSMITH_DEMO_MODEL_URL="")
    assert product.url.startswith("http://127.0.0.1:")
    assert "Demo accounts: reviewer / secret" in product.printed
    assert product.answer().isdigit()
    assert used_place.alive("scriptsmith demo model")
    assert used_place.layout.demo_model.exists()
    assert product.end() == (0, "")
    assert used_place.alive() == []


def test_what_is_killed_comes_back(used_place, start, until) -> None:
    product = start()
    first = product.answer()
    parts = ("scriptsmith web", "scriptsmith worker", "scriptsmith sandbox worker")
    for words in (("postgres", "-D"), ("redis",), *((part,) for part in parts)):
        before = set(used_place.alive(*words))
        kill(*before)
        until(lambda w=words, b=before: (now := set(used_place.alive(*w))) and not now & b)
        assert product.answer().isdigit()
    assert product.answer() != first
    # A web process that had to reload its views would not respond for seconds.
    assert product.answer("loaded-by") == str(product.process.pid)
    until(Postgres(used_place.layout).is_running)
    assert product.end() == (0, "")
    assert used_place.alive() == []


@pytest.mark.nightly
def test_a_second_signal_does_not_wait_for_work_that_has_begun(used_place, start, until) -> None:
    sign = used_place.folder / "napping"
    product = start(SMALL_NAP=str(sign))
    until(sign.exists)
    product.process.send_signal(signal.SIGTERM)
    assert "Press Ctrl-C again to stop immediately" in product.process.stdout.readline()
    assert product.end() == (0, "")
    assert used_place.alive() == []


def test_killed_supervisor_leaves_nothing_behind(used_place, start, until) -> None:
    killed = start()
    servers = Postgres(used_place.layout)._postmasters()
    before = [*used_place.alive("scriptsmith w"), *used_place.alive("scriptsmith sandbox worker")]
    assert len(before) >= 4, "web with its processes, and two workers"
    kill(killed.process.pid)
    following = start()
    assert Postgres(used_place.layout)._postmasters() == servers
    assert following.answer().isdigit()
    assert not set(before) & set(used_place.alive())
    assert following.end() == (0, "")
    assert used_place.alive() == []


@pytest.mark.nightly
def test_a_command_beside_it_neither_stops_nor_is_stopped(used_place, start) -> None:
    command = used_place.start("manage.py", "wait")
    assert command.stdout.readline() == "reading\n"
    product = start()
    assert product.answer().isdigit()
    product.process.send_signal(signal.SIGINT)
    printed, complaint = product.process.communicate(timeout=180)
    assert "PostgreSQL and Redis stop when it ends" in printed
    assert command.communicate(timeout=180)[0] == "read again\n"
    assert used_place.alive() == []


def test_a_second_one_and_a_port_in_use_are_refused_in_one_line(used_place, start) -> None:
    product = start()
    second = used_place.start(*RUN, PORT="0")
    assert second.wait(timeout=90) == 1
    complaint = second.stderr.read()
    assert complaint.count("\n") == 1
    assert f"process {product.process.pid}, {product.url}" in complaint
    port = product.url.rstrip("/").rpartition(":")[2]
    other = {"SCRIPTSMITH_DATA": str(used_place.folder / "other"), "PORT": port}
    refused = used_place.start(*RUN, **other)
    assert refused.wait(timeout=90) == 1
    assert f"port {port} is in use" in refused.stderr.read()
    assert product.end() == (0, "")


@pytest.mark.parametrize(
    ("variables", "advice"),
    [
        pytest.param({"PORT": "many"}, "Use a whole number", id="port"),
        pytest.param(
            {"PORT": "0", "SCRIPTSMITH_BIND": "192.0.2.1"}, "not an address of", id="bind"
        ),
        pytest.param(
            {"PORT": "0", "DATABASE_URL": "postgresql://u@/n?host=/nowhere"}, "/nowhere", id="base"
        ),
    ],
)
def test_what_is_in_the_way_is_said_in_one_line(
    used_place, variables: dict[str, str], advice: str
) -> None:
    process = used_place.start(*RUN, **(ELSEWHERE | variables))
    _, complaint = process.communicate(timeout=180)
    assert (process.returncode, complaint.count("\n")) == (1, 1)
    assert advice in complaint
    assert used_place.alive() == []


@pytest.mark.nightly
def test_each_part_is_one_fork_and_scripts_yield_to_the_rest(used_place, start, until) -> None:
    product = start(SCRIPTSMITH_DEMO_MODEL_URL="")
    forks = {
        part: used_place.alive(f"scriptsmith {part}")
        for part in ("demo model", "worker", "sandbox worker")
    }
    assert all(len(found) == 1 for found in forks.values()), "the scheduler is no process"
    [sandbox_worker], [worker] = forks["sandbox worker"], forks["worker"]
    until(lambda: session_niceness(sandbox_worker) in (SANDBOX_NICENESS, None))
    assert os.getpriority(os.PRIO_PROCESS, sandbox_worker) == SANDBOX_NICENESS
    assert session_niceness(worker) in (0, None)
    assert os.getpriority(os.PRIO_PROCESS, worker) == os.getpriority(os.PRIO_PROCESS, 0)
    for pid in (worker, sandbox_worker):
        assert processes.parent(pid) == product.process.pid
    assert product.end() == (0, "")
