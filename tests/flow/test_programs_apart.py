"""Tests for the health checks and metrics of the programs in compose.yaml, each with its own data folder."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from tests.flow.test_metrics_of_processes import _RUN, _TOKEN, samples_by_name
from tests.ports import free_port
from tests.site_process import ROOT, Site

SERVICES = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]
PATIENCE = 240.0  # seconds; enough for a busy machine


@contextmanager
def started(
    site: Site, service: str, data: Path, **settings: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Run this service's program on the site's database and broker."""
    command = SERVICES[service]["command"].replace("/data", str(data))
    words = shlex.split(command)
    # Omit "nice", because the program would starve on a busy machine.
    words = words[words.index("celery") :]
    words[0] = str(Path(sys.executable).parent / "celery")
    with (data / "log").open("w") as log:
        process = subprocess.Popen(
            words,
            cwd=ROOT,
            env=site.environment | {"SCRIPTSMITH_DATA": str(data), **settings},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(timeout=60)


def is_alive(service: str, data: Path) -> bool:
    """Run the container's health check from compose.yaml and return whether it passes."""
    check = SERVICES[service]["healthcheck"]["test"]
    assert check[:2] == ["CMD", "python"]
    environment = {**os.environ, "SCRIPTSMITH_DATA": str(data)}
    asked = subprocess.run(
        [sys.executable, *check[2:]], cwd=ROOT, env=environment, capture_output=True, check=False
    )
    return asked.returncode == 0


def wait_until(holds: Callable[[], bool], data: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < deadline, (data / "log").read_text()[-4000:]
        time.sleep(0.2)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "service", ["runner", pytest.param("scheduler", marks=pytest.mark.nightly)]
)
def test_program_is_alive_although_its_metrics_port_is_taken_until_it_hangs(
    site: Site, tmp_path: Path, service: str
) -> None:
    """Check the commands and health checks of compose.yaml, which requires real processes."""
    assert not is_alive(service, tmp_path)
    taken = {"SCRIPTSMITH_WORKER_METRICS": f"127.0.0.1:{site.environment['PORT']}"}
    with started(site, service, tmp_path, **taken) as process:
        wait_until(lambda: is_alive(service, tmp_path), tmp_path)
        if service == "runner":
            wait_until(
                lambda: "can't serve its metrics on port" in (tmp_path / "log").read_text(),
                tmp_path,
            )
        (sign,) = (tmp_path / "workers").iterdir()
        first = sign.stat().st_mtime
        wait_until(lambda: sign.stat().st_mtime > first, tmp_path)
        process.send_signal(signal.SIGSTOP)  # simulate a hang
        long_ago = time.time() - 61
        os.utime(sign, (long_ago, long_ago))
        time.sleep(0.5)
        assert not is_alive(service, tmp_path)
        process.send_signal(signal.SIGCONT)


def scrape(port: int, token: str = "", path: str = "/metrics") -> tuple[int, dict[str, float]]:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, samples_by_name(answer.read().decode())
    except urllib.error.HTTPError as error:
        return error.code, {}


@pytest.mark.nightly
@pytest.mark.timeout(400)
def test_what_a_worker_elsewhere_counts_is_scraped_from_it(site: Site, tmp_path: Path) -> None:
    token = site.run(_TOKEN).split("token ")[1].strip()
    other = site.run(_TOKEN.replace("['metrics']", "['read']")).split("token ")[1].strip()
    port = free_port()
    where = {"SCRIPTSMITH_WORKER_METRICS": f"127.0.0.1:{port}"}
    with started(site, "worker", tmp_path, **where):
        wait_until(lambda: is_alive("worker", tmp_path), tmp_path)

        def has_had_a_run() -> bool:
            site.run(_RUN)  # either this worker or the site's own worker claims the run
            time.sleep(1)
            return scrape(port, token)[1].get("scriptsmith_runs_total", 0) >= 1

        wait_until(has_had_a_run, tmp_path)
        status, found = scrape(port, token)
        assert status == 200 and found["scriptsmith_attempts_total"] >= 1, "what the alert is about"
        assert found["scriptsmith_model_call_seconds_count"] == found["scriptsmith_attempts_total"]
        assert "scriptsmith_queue_age_seconds" not in found, "the web says that, once"
        assert [scrape(port)[0], scrape(port, "sst_guessed")[0], scrape(port, other)[0]] == [
            401,
            401,
            403,
        ]
        assert scrape(port, token, "/login/")[0] == 404
