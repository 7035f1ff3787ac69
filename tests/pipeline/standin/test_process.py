"""The process: it listens on loopback only, says where, and ends cleanly."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import anthropic
import pytest

from pipeline.standin.__main__ import main
from tests.standin_process import ROOT, StandIn

COMMAND = [sys.executable, "-m", "pipeline.standin"]


def test_it_refuses_to_listen_anywhere_but_on_loopback(
    capsys: pytest.CaptureFixture[str], subtests: pytest.Subtests
) -> None:
    cases = ("0.0.0.0", "192.0.2.1", "example.org", "::")
    for host in cases:
        with subtests.test(host):
            with pytest.raises(SystemExit) as refusal:
                main(["--host", host])
            assert refusal.value.code == 2
            assert host in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT])
def test_process_announces_itself_and_ends(tmp_path: Path, signal_number: signal.Signals) -> None:
    file = tmp_path / "announcement.json"
    process = subprocess.Popen(
        [*COMMAND, "--announce", str(file)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    while not file.exists():
        time.sleep(0.01)
    announced = json.loads(file.read_text())
    assert announced == {"port": announced["port"], "pid": process.pid}
    sdk = anthropic.Anthropic(api_key="a", base_url=f"http://127.0.0.1:{announced['port']}")
    assert list(sdk.models.list())
    os.kill(process.pid, signal_number)
    output, _ = process.communicate(timeout=60)
    assert (process.returncode, output) == (0, b"")
    assert [path.name for path in tmp_path.iterdir()] == ["announcement.json"]


@pytest.mark.slow
def test_it_ends_although_an_answer_is_on_its_way() -> None:
    process = StandIn("--latency", "30").start()
    sdk = anthropic.Anthropic(api_key="a", base_url=process.url, max_retries=0, timeout=2)
    with pytest.raises(anthropic.APITimeoutError):
        sdk.messages.create(model="a", max_tokens=9, messages=[{"role": "user", "content": "b"}])
    started = time.monotonic()
    assert process.stop() == 0
    assert time.monotonic() - started < 20, "the answer takes longer"


def test_unusable_port_and_action_file_are_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["--port", str(taken.getsockname()[1])]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    (tmp_path / "01-broken.yaml").write_text("statement: a\ndrafts: []\n")
    assert main(["--actions", str(tmp_path)]) == 2
    assert "01-broken.yaml" in capsys.readouterr().err
