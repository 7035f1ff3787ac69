"""Tests for serving local models under the supervisor, with a stand-in for llama.cpp's package."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from pipeline.llm.client import MessagesClient
from pipeline.llm.types import Answered, Failed, FailureKind, Target, Trouble, Usage
from scriptsmith_site.embedded.local_model import server
from scriptsmith_site.embedded.local_model.schema_adapter import SchemaAdapter
from tests.site.embedded.test_embedded_supervisor import ELSEWHERE, RUN, Product

STAND_IN = Path(__file__).parent / "stand_in_llama"
RESOURCES = server.Resources(threads=1, context=1_024, slots=1)


def announced(folder: Path) -> dict[str, dict[str, object]]:
    return {path.stem: json.loads(path.read_text()) for path in folder.glob("*.json")}


@pytest.mark.slow
def test_killed_model_returns_and_unusable_one_leaves_product_running(used_place, until) -> None:
    models = used_place.layout.local_models
    models.mkdir(exist_ok=True)
    for name, content in {"good": b"GGUF", "damaged": b"GGUF", "text": b"no model"}.items():
        (models / f"{name}.gguf").write_bytes(content)
    (models / "before.json").write_text("{}")  # a killed supervisor left it
    local = {"SCRIPTSMITH_ENDPOINTS": "local", "PYTHONPATH": str(STAND_IN), "PORT": "0"}
    product = Product(used_place.start(*RUN, **ELSEWHERE, **local))
    assert "Local models are offered." in product.printed
    until(lambda: announced(models).get("good", {}).get("port"))
    until(lambda: all(announced(models)[name]["problem"] for name in ("damaged", "text")))
    found = announced(models)
    assert set(found) == {"good", "damaged", "text"}
    assert "can't load" in found["damaged"]["problem"]
    assert "is not a GGUF file" in found["text"]["problem"]
    assert (models / "good.json").stat().st_mode & 0o077 == 0, "the key is for this user only"
    with urllib.request.urlopen(f"http://127.0.0.1:{found['good']['port']}/health") as reply:
        assert json.load(reply) == {"status": "ok"}
    os.kill(found["good"]["pid"], signal.SIGKILL)
    until(lambda: (now := announced(models)["good"])["pid"] != found["good"]["pid"] and now["port"])
    assert product.answer().isdigit()
    assert product.end() == (0, "")
    assert announced(models) == {}
    assert used_place.alive() == []
    for path in models.glob("*.gguf"):
        path.unlink()


def test_unusable_model_is_announced_with_advice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    # Do not change this process's own score.
    monkeypatch.setattr(server, "_OOM_SCORE", tmp_path / "oom_score")
    good = tmp_path / "good.gguf"
    good.write_bytes(b"GGUF")
    (tmp_path / "text.gguf").write_bytes(b"no model")
    huge = tmp_path / "huge.gguf"
    huge.write_bytes(b"GGUF")
    os.truncate(huge, 2**43)
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    cases = {
        tmp_path / "missing.gguf": ("No such file", "make local-model"),
        tmp_path / "text.gguf": ("is not a GGUF file", "Replace it"),
        huge: ("GiB of memory", "choose a smaller model"),
        good: ("xllamacpp can't be imported", "Run `make local-model`"),
    }
    for path, (happened, advice) in cases.items():
        with subtests.test(path.stem):
            with pytest.raises(SystemExit) as ended:
                server.serve(path, tmp_path, RESOURCES)
            assert ended.value.code == server.UNUSABLE
            problem = announced(tmp_path)[path.stem]["problem"]
            assert happened in problem and advice in problem
            assert "start ScriptSmith again" in problem


class Llama(BaseHTTPRequestHandler):
    """A fake of llama.cpp's two APIs.

    `asked` has the requests, and `closed` is set when a client disconnects during a slow request.
    """

    asked: list[tuple[str, dict[str, object], str | None]] = []
    closed = threading.Event()

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.asked.append((self.path, body, self.headers["authorization"]))
        if body["model"] == "slow":
            self.closed.clear()
            assert self.connection.recv(1) == b""
            self.closed.set()
        elif body["model"] == "long":
            said = "request (9030 tokens) exceeds the available context size (8192 tokens)"
            self.reply(400, {"error": {"message": said, "type": "exceed_context_size_error"}})
        elif self.path == "/v1/messages":
            usage = {"input_tokens": 3, "output_tokens": 2}
            content = [{"type": "text", "text": "plain"}]
            self.reply(200, MESSAGE | {"content": content, "usage": usage})
        else:
            usage = {"prompt_tokens": 9, "completion_tokens": 4}
            usage |= {"prompt_tokens_details": {"cached_tokens": 5}}
            choice = {"message": {"content": '{"answer": "a"}'}, "finish_reason": "length"}
            self.reply(200, {"id": "c", "model": "m", "choices": [choice], "usage": usage})

    def log_message(self, format: str, *args: object) -> None:
        """Write nothing."""

    def reply(self, status: int, body: dict[str, object]) -> None:
        content = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


MESSAGE = {"id": "m", "type": "message", "role": "assistant", "model": "m"}
MESSAGE |= {"stop_reason": "end_turn", "stop_sequence": None}


@pytest.fixture
def adapter() -> Iterator[str]:
    """Yield the address of an adapter in front of a stand-in for llama.cpp."""
    Llama.asked.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Llama) as llama:
        with SchemaAdapter(llama.server_port) as front:
            for one in (llama, front):
                threading.Thread(target=one.serve_forever, daemon=True).start()
            yield f"http://127.0.0.1:{front.server_address[1]}"
            front.shutdown()
        llama.shutdown()


def test_adapter_enforces_schemas_and_changes_nothing_else(adapter: str) -> None:
    texts = {"type": "array", "items": {"type": "string"}}
    properties = {"answer": {"type": "string"}, "points": texts}
    shape = {"type": "object", "properties": properties}
    plain = {"model": "m", "max_tokens": 9, "system": "s", "extra_body": {"temperature": 0.5}}
    plain |= {"messages": [{"role": "user", "content": "u"}]}
    schema = plain | {"output_config": {"format": {"type": "json_schema", "schema": shape}}}
    client, target = MessagesClient(), Target("local", adapter, "secret", 20)
    [text] = client.send([(target, plain)])
    [held] = client.send([(target, schema)])
    [long] = client.send([(target, schema | {"model": "long"})])
    assert isinstance(text, Answered) and text.message["content"][0]["text"] == "plain"
    assert isinstance(held, Answered) and held.message["content"][0]["text"] == '{"answer": "a"}'
    assert held.message["stop_reason"] == "max_tokens"
    assert held.usage == Usage(input=4, output=4, cache_read=5)
    assert isinstance(long, Failed)
    assert (long.kind, long.error_type) == (FailureKind.REFUSED, Trouble.CONTEXT)
    (first, sent, key), (second, translated, _), _ = Llama.asked
    assert (first, second, key) == ("/v1/messages", "/v1/chat/completions", "Bearer secret")
    assert sent["system"] == "s" and "response_format" not in sent
    assert translated["messages"] == [{"role": "system", "content": "s"}, *plain["messages"]]
    held_to = translated["response_format"]["json_schema"]["schema"]
    assert held_to["properties"].pop("points")["maxItems"] == 5, "a loop ends"
    del shape["properties"]["points"]
    assert held_to == shape
    assert (translated["max_tokens"], translated["temperature"]) == (9, 0.5)


def test_adapter_closes_connection_of_client_that_leaves(adapter: str) -> None:
    port = int(adapter.rpartition(":")[2])
    body = b'{"model": "slow"}'
    head = f"POST /v1/messages HTTP/1.1\r\ncontent-length: {len(body)}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", port)) as client:
        client.sendall(head + body)
        while not Llama.asked:
            threading.Event().wait(0.01)
        assert not Llama.closed.is_set()
    assert Llama.closed.wait(10)
