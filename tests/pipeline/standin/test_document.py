"""Tests that the demo model process behaves as its document specifies."""

from __future__ import annotations

import contextlib
import doctest
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import get_args

import anthropic
import pytest

from pipeline.standin.__main__ import main
from pipeline.standin.script_book import load_book
from pipeline.standin.server.faults import Fault
from tests.pipeline.standin.asking import Client, ask
from tests.standin_process import ROOT, StandIn

TEXT = (ROOT / "docs" / "demo-model.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8123"


def blocks(language: str) -> list[str]:
    """Return the document's code blocks in a language. An empty line follows each block."""
    return re.findall(rf"^```{language}\n(.*?)^```$(?=\n\n)", TEXT, re.DOTALL | re.MULTILINE)


def fault_rows() -> list[tuple[str, str, dict[str, object]]]:
    """Return the kind, the billing column and the example of each row in the table."""
    rows = re.findall(r"^\| `(\w+)` \| .* \| (yes|no) \| `(\{.*\})` \|$", TEXT, re.MULTILINE)
    return [(kind, billed, json.loads(rule)) for kind, billed, rule in rows]


def test_the_examples_give_what_they_say(standin: StandIn) -> None:
    session = "\n".join(blocks("pycon")).replace(ADDRESS, standin.url)
    found = doctest.DocTestParser().get_doctest(session, {}, "demo-model.md", "demo-model.md", 0)
    assert len(found.examples) > 20
    said: list[str] = []
    doctest.DocTestRunner().run(found, out=said.append)
    assert said == []


@pytest.mark.slow
@pytest.mark.parametrize("command", [line for line in blocks("bash") if "--help" not in line])
def test_it_starts_as_the_document_says(command: str, tmp_path: Path) -> None:
    words = shlex.split(re.sub(r"--port \d+", "--port 0", command))
    assert words[:3] == ["python", "-m", "pipeline.standin"]
    options = [str(ROOT / word) if word.startswith("pipeline/") else word for word in words[3:]]
    if "--announce" not in options:
        options += ["--announce", "standin.json"]
    announced = tmp_path / "standin.json"
    process = subprocess.Popen(
        [sys.executable, "-m", "pipeline.standin", *options],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
    )
    deadline = time.monotonic() + 120
    while not announced.exists():
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0


def test_it_helps_as_the_document_says(capsys: pytest.CaptureFixture[str]) -> None:
    (command,) = (line for line in blocks("bash") if "--help" in line)
    with pytest.raises(SystemExit) as ended:
        main(shlex.split(command)[3:])
    assert ended.value.code == 0
    options = set(re.findall(r"--\w+", capsys.readouterr().out)) - {"--help"}
    described = set(re.findall(r"^\| `(--\w+)", TEXT, re.MULTILINE))
    assert described == options


def test_book_and_faults_are_as_documented(tmp_path: Path) -> None:
    (page,) = blocks("yaml")
    (tmp_path / "staging.yaml").write_text(page, encoding="utf-8")
    assert len(load_book(tmp_path)) == 7
    kinds = get_args(Fault.model_fields["kind"].annotation)
    of_batches = re.findall(r'^\| `(\w+)` \| [^|]* \| `\{"kind": "\1".*\}` \|$', TEXT, re.MULTILINE)
    assert {kind for kind, _, _ in fault_rows()} | set(of_batches) == set(kinds)


def test_each_fault_strikes_and_is_billed_as_the_document_says(
    standin: StandIn, client: Client, subtests: pytest.Subtests
) -> None:
    for kind, billed, rule in fault_rows():
        with subtests.test(kind):
            standin.reset()
            standin.faults(rule)
            # The SDK raises some faults and passes on others. Only the server is tested here.
            with contextlib.suppress(anthropic.APIError, json.JSONDecodeError):
                ask(client, "similarity", STATEMENT="List /srv", FUNCTIONALITY="It lists /srv.")
            (call,) = standin.calls()
            assert (call["fault"], call["billed"]) == (kind, billed == "yes")
            assert standin.pending_faults() == []


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


def test_unusable_port_or_file_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["--port", str(taken.getsockname()[1])]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    (tmp_path / "01-broken.yaml").write_text("statement: a\ndrafts: []\n")
    assert main(["--actions", str(tmp_path)]) == 2
    assert "01-broken.yaml" in capsys.readouterr().err
