"""Tests for the client's contract with a real model server: `make test-model`. Pytest does not collect this file name
in other runs."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings

from core.network.http_exchange import Group, current_group
from pipeline.clients.local_models import announced_models
from pipeline.flow.prompts import load_all
from pipeline.flow.reading.readers import read_opinion
from pipeline.flow.stages import compare
from pipeline.llm.client import MessagesClient
from pipeline.llm.inspector import SdkInspector
from pipeline.llm.probe import probe
from pipeline.llm.probe_findings import KeyFound
from pipeline.llm.request_builder import RoleSpec, build_request, reply_of
from pipeline.llm.types import Answered, Failed, FailureKind, Request, Target, Trouble
from pipeline.types import Mode, ReadingOutcome
from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.local_model.server import PACKAGES
from scriptsmith_site.operation.local_models import speed_of

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300.0
# Use the data folder of `make run`, because the tests' own folder contains no models.
FOLDER = Path(os.environ.get("SCRIPTSMITH_TEST_DATA") or ROOT / ".data") / "local-models"


def smallest_model() -> Path:
    """Return the smallest model file, or exit with a message about the missing file."""
    named = os.environ.get("SCRIPTSMITH_LOCAL_MODEL")
    files = (
        [Path(named)] if named else sorted(FOLDER.glob("*.gguf"), key=lambda p: p.stat().st_size)
    )
    if not files:
        pytest.exit(f"{FOLDER} has no model: run `make local-model MODEL=0.5b`", returncode=1)
    if not PACKAGES.exists():
        pytest.exit(
            "llama.cpp's server is missing: run `make local-model MODEL=0.5b`", returncode=1
        )
    return files[0]


class Served:
    """A real model server, started in the same way as by the supervisor."""

    def __init__(self, model: Path, folder: Path) -> None:
        self.name = model.stem
        serve = "from scriptsmith_site.embedded.local_model.server import Resources, serve; "
        serve += f"serve(Path({str(model)!r}), Path({str(folder)!r}), Resources(1, 2048, 1))"
        self._command = [sys.executable, "-c", f"from pathlib import Path; {serve}"]
        self.start()

    def start(self) -> None:
        begun = time.monotonic()
        self.process = subprocess.Popen(self._command, cwd=ROOT)
        while not any(one.pid == self.process.pid and one.is_ready for one in announced_models()):
            assert self.process.poll() is None and time.monotonic() - begun < SECONDS
            time.sleep(0.05)
        [self.model] = announced_models()
        self.target = Target(
            "local", f"http://127.0.0.1:{self.model.port}", self.model.key, SECONDS
        )

    def is_busy(self) -> bool:
        """Return whether the server's metrics show that it is generating text."""
        asked = urllib.request.Request(
            f"{self.target.base_url}/metrics", headers={"authorization": f"Bearer {self.model.key}"}
        )
        with urllib.request.urlopen(asked) as reply:
            return b"llamacpp:requests_processing 1" in reply.read()

    def request(self, words: str, *, max_tokens: int = 16) -> Request:
        message = {"role": "user", "content": words}
        return {
            "model": self.name,
            "max_tokens": max_tokens,
            "messages": [message],
            "extra_body": {"temperature": 0.0},
        }


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    layout = Layout(tmp_path_factory.mktemp("data"))
    layout.local_models.mkdir()
    before, settings.LAYOUT = settings.LAYOUT, layout
    served = Served(smallest_model(), layout.local_models)
    yield served
    served.process.kill()
    served.process.wait()
    settings.LAYOUT = before


def send(served: Served, *requests: Request) -> list[Answered | Failed]:
    return MessagesClient().send([(served.target, request) for request in requests])


def write_for_long(served: Served) -> tuple[threading.Thread, list[Answered | Failed], Group]:
    """Start a long reply in a thread and wait until the model generates text."""
    ended: list[Answered | Failed] = []
    group = Group()

    def write() -> None:
        current_group.set(group)
        ended.extend(send(served, served.request("Count from 1 to 1000.", max_tokens=1500)))

    thread = threading.Thread(target=write)
    thread.start()
    while not served.is_busy():
        time.sleep(0.05)
    return thread, ended, group


def test_calls_in_parallel_are_answered_with_their_tokens(served: Served) -> None:
    first, second = send(served, *[served.request("Say good morning.")] * 2)
    for ended in (first, second):
        assert isinstance(ended, Answered), ended
        assert ended.message["stop_reason"] in ("end_turn", "max_tokens")
        assert ended.usage.output > 0 and ended.doubt is None
        assert ended.usage.input + ended.usage.cache_read > 3
    assert speed_of(served.model), "the status page shows tokens per second"


def test_check_finds_schema_mode_and_no_tool_mode(served: Served) -> None:
    found = probe(served.target, client=MessagesClient(), inspector=SdkInspector(), max_tokens=128)
    assert found.models == (served.name,)
    outcomes = {one.mode: one.outcome.value for one in found.modes}
    assert outcomes[Mode.SCHEMA] == "real" and outcomes[Mode.TOOL] != "real"
    assert found.recommended is Mode.SCHEMA and found.key is KeyFound.ACCEPTED


def test_verdicts_are_readable_in_schema_mode(served: Served) -> None:
    statement = "Delete files older than 30 days in /var/tmp/exports"
    does = "The script lists the files in /var/tmp/exports."
    role = RoleSpec("local", 0, served.name, Mode.SCHEMA, max_tokens=400, temperature=0.0)
    for stage in (compare.SIMILARITY, compare.DIFFERENCE):
        asked = compare.question(stage, statement, does, round=0, templates=load_all())
        [ended] = send(served, build_request(asked, role))
        assert isinstance(ended, Answered), ended
        assert read_opinion(reply_of(ended.message)).outcome is ReadingOutcome.READ


def test_prompt_that_does_not_fit_and_wrong_key_are_refused(served: Served) -> None:
    [long] = send(served, served.request("word " * 5_000))
    assert isinstance(long, Failed)
    assert (long.kind, long.error_type) == (FailureKind.REFUSED, Trouble.CONTEXT)
    wrong = Target("local", served.target.base_url, "wrong", SECONDS)
    [refused] = MessagesClient().send([(wrong, served.request("Say hi."))])
    assert isinstance(refused, Failed) and refused.http_status == 401


def test_abandoned_call_stops_the_generation(served: Served) -> None:
    thread, ended, group = write_for_long(served)
    group.abandon("The run was canceled.")
    left_at = time.monotonic()
    thread.join(SECONDS)
    while served.is_busy():
        time.sleep(0.05)
    assert time.monotonic() - left_at < 10
    assert isinstance(ended[0], Failed) and ended[0].error_type == Trouble.ABANDONED


def test_killed_server_breaks_the_call_and_answers_after_its_restart(served: Served) -> None:
    thread, ended, _group = write_for_long(served)
    served.process.kill()
    served.process.wait()
    thread.join(SECONDS)
    assert isinstance(ended[0], Failed)
    assert ended[0].kind is FailureKind.TIMEOUT and ended[0].error_type, (
        "not taken for a slow reply"
    )
    [refused] = send(served, served.request("Say good morning."))
    assert isinstance(refused, Failed) and refused.kind is FailureKind.UNREACHABLE
    served.start()
    [again] = send(served, served.request("Say good morning."))
    assert isinstance(again, Answered)
