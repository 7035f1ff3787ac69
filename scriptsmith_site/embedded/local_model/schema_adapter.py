"""An adapter that adds schema mode to llama.cpp's Messages API, which silently ignores `output_config.format`.

A request with a schema is sent to the chat completions endpoint of the same server, which enforces schemas, and the
reply is translated back. Every other request is forwarded unchanged.
"""

from __future__ import annotations

import json
import select
from contextlib import closing, suppress
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any

Body = dict[str, Any]
_HEADERS = ("authorization", "content-type", "x-api-key")
_STOP_REASONS = {"stop": "end_turn", "length": "max_tokens"}


class SchemaAdapter(ThreadingTCPServer):
    """A proxy on a free loopback port for the server on `port`, which checks the API key."""

    daemon_threads = True

    def __init__(self, port: int) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.behind = port


class _Handler(BaseHTTPRequestHandler):
    server: SchemaAdapter

    def do_GET(self) -> None:
        path, chat = self.path, None
        content = self.rfile.read(int(self.headers.get("content-length") or 0))
        if path == "/v1/messages":
            # Forward invalid requests unchanged, because llama.cpp reports their errors.
            with suppress(ValueError, TypeError, AttributeError, KeyError):
                chat = to_chat(json.loads(content))
        if chat is not None:
            path, content = "/v1/chat/completions", json.dumps(chat).encode()
        headers = {name: self.headers[name] for name in _HEADERS if name in self.headers}
        with closing(HTTPConnection("127.0.0.1", self.server.behind)) as server:
            server.request(self.command, path, content, headers)
            # A waiting client sends no data, so a readable connection means that the client closed it.
            # Returning closes the connection to llama.cpp, which stops the generation.
            if self.connection in select.select([server.sock, self.connection], [], [])[0]:
                return
            reply = server.getresponse()
            content = reply.read()
        if chat is not None and reply.status == 200:
            content = json.dumps(to_message(json.loads(content))).encode()
        with suppress(ConnectionError):
            self.send_response_only(reply.status)
            self.send_header("content-type", reply.headers.get("content-type", ""))
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    do_POST = do_GET


def to_chat(request: Body) -> Body | None:
    """Translate a Messages request with a schema. Return None if the request has no schema."""
    wanted = (request.get("output_config") or {}).get("format")
    if not wanted:
        return None
    system = [{"role": "system", "content": request["system"]}] if request.get("system") else []
    kept = ("model", "max_tokens", "temperature", "top_p", "top_k")
    shape = {"name": "answer", "schema": _bound(wanted["schema"])}
    return {name: request[name] for name in kept if name in request} | {
        "messages": [*system, *request["messages"]],
        "response_format": {"type": "json_schema", "json_schema": shape},
    }


def _bound(schema: Body) -> Body:
    """Limit lists of strings, because a small model that repeats itself would fill a list up to the token limit."""
    if schema.get("type") == "array" and schema.get("items") == {"type": "string"}:
        return schema | {"maxItems": 5, "items": {"type": "string", "maxLength": 300}}
    properties = {name: _bound(one) for name, one in schema.get("properties", {}).items()}
    return schema | {"properties": properties} if properties else schema


def to_message(reply: Body) -> Body:
    """Translate a chat completion into a message."""
    [choice], usage = reply["choices"], reply["usage"]
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    return {
        "id": reply["id"],
        "type": "message",
        "role": "assistant",
        "model": reply["model"],
        "content": [{"type": "text", "text": choice["message"]["content"] or ""}],
        "stop_reason": _STOP_REASONS.get(choice["finish_reason"]),
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage["prompt_tokens"] - cached,
            "cache_read_input_tokens": cached,
            "output_tokens": usage["completion_tokens"],
        },
    }
