"""Tests for the health check of a worker's container, and for the single setting for threads."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from django.conf import settings as django_settings

from pipeline.scheduling.heartbeat import Heartbeat
from scriptsmith_site.embedded.supervision import programs
from scriptsmith_site.embedded.worker_healthcheck import SECONDS, file_of
from scriptsmith_site.web import gunicorn_container
from tests.site.deployment.deploying import arguments_of

ROOT = Path(django_settings.BASE_DIR)
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text())


def check(data: Path) -> int:
    """Run the health check with the command in compose.yaml and return its exit status."""
    command = COMPOSE["services"]["worker"]["healthcheck"]["test"]
    assert command[:2] == ["CMD", "python"]
    environment = {**os.environ, "SCRIPTSMITH_DATA": str(data)}
    done = subprocess.run(
        [sys.executable, *command[2:]],
        cwd=ROOT,
        env=environment,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    return done.returncode


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_worker_is_alive_while_its_heart_beats(tmp_path: Path) -> None:
    """Use the command in compose.yaml, so that its path and interpreter flags are also tested."""
    assert check(tmp_path) == 1, "not before the first sign"
    sign, beat = file_of(tmp_path, socket.gethostname()), Heartbeat()
    beat.announce_worker(threads=1, sign=sign)
    try:
        deadline = time.monotonic() + 60
        while not sign.exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        assert check(tmp_path) == 0
        long_ago = time.time() - SECONDS - 1
        os.utime(sign, (long_ago, long_ago))
        assert check(tmp_path) == 1, "its heart has stopped"
    finally:
        beat.withdraw_worker()
    assert not sign.exists()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_sign_that_cannot_be_left_stops_no_heart(tmp_path: Path) -> None:
    (tmp_path / "workers").write_text("a file where the folder should be")
    beat = Heartbeat()
    beat.announce_worker(threads=1, sign=file_of(tmp_path, "here"))
    try:
        time.sleep(0.3)
        assert beat._thread is not None and beat._thread.is_alive()
    finally:
        beat.withdraw_worker()


def test_there_is_one_truth_about_threads() -> None:
    web = arguments_of(programs.web(0))
    threads = web[web.index("--threads") + 1]
    processes = str(programs.MOST_WEB_PROCESSES)
    assert (gunicorn_container.workers, gunicorn_container.threads) == (
        int(processes),
        int(threads),
    )
    assert "gunicorn_container" in COMPOSE["services"]["web"]["command"]
    said = " ".join((ROOT / "docs" / "operation.md").read_text().split())
    words = {"3": "three", "5": "five"}
    assert f"at most {words[processes]}, with {words[threads]} threads each" in said
    assert f"{django_settings.SCRIPTSMITH_WORKER_THREADS} threads" in said
