"""The demo model over HTTP: the Messages API, and /_standin to control and inspect it in tests."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pipeline.standin.prompt_answers import answer_prompt
from pipeline.standin.prompt_contract import Prompt, parse_prompt
from pipeline.standin.script_book import Answer, Book
from pipeline.standin.server.delivery import deliver, deliver_lines, write_json
from pipeline.standin.server.faults import Fault, FaultQueue, spoil_message, spoil_reply
from pipeline.standin.server.message_batches import HeldBatch, MessageBatches
from pipeline.standin.server.message_reply import (
    Reply,
    build_message,
    build_usage,
    compose_reply,
)
from pipeline.standin.server.message_request import (
    MessageRequest,
    RequestRefused,
    fit,
    parse_request,
    refused,
)
from pipeline.standin.server.model_list import (
    MODELS,
    describe_model,
    list_models,
    list_models_like_ollama,
)
from pipeline.standin.server.refusals import (
    MAX_BATCH_BODY,
    MAX_BODY,
    refuse_headers,
    refuse_request,
    refuse_sampling,
)
from pipeline.standin.server.request_log import Call, CallLog
from pipeline.standin.server.token_counts import PromptCache, count_input
from pipeline.standin.simulated_models import SimulatedAnswers

Profile = Literal["claude", "ollama"]

_LIMITS = {"requests": 4_000, "tokens": 500_000, "input-tokens": 400_000, "output-tokens": 100_000}
_RESET = "2026-01-01T00:00:00Z"


@dataclass
class StandIn:
    """A demo model: its book, its profile, and its state between requests."""

    book: Book
    profile: Profile = "claude"
    latency: float = 0
    log: CallLog = field(default_factory=CallLog)
    cache: PromptCache = field(default_factory=PromptCache)
    faults: FaultQueue = field(default_factory=FaultQueue)
    # The answers by model in simulation mode, which does not use the book.
    simulated: Mapping[str, SimulatedAnswers] = field(default_factory=dict)
    # The duration of a Message Batch and its maximum body size.
    batch_seconds: float = 2
    batch_bytes: int = MAX_BATCH_BODY

    def __post_init__(self) -> None:
        self.held_batches = MessageBatches(self._answer_in_batch)

    def reset(self) -> None:
        """Clear the log, cache, faults and batches."""
        self.held_batches.clear()
        self.log.clear()
        self.cache.clear()
        self.faults.clear()

    async def messages(self, http: Request) -> Response:
        """Handle POST /v1/messages."""
        return await self._serve(http, self._answer)

    async def count_tokens(self, http: Request) -> Response:
        """Handle POST /v1/messages/count_tokens."""
        return await self._serve(http, self._count)

    async def models(self, http: Request) -> Response:
        """Handle GET /v1/models and /v1/models/NAME."""
        return await self._serve(http, self._list)

    async def batches(self, http: Request) -> Response:
        """Handle GET and POST /v1/messages/batches."""
        handle = self._create_batch if http.method == "POST" else self._list_batches
        return await self._serve(http, handle)

    async def batch(self, http: Request) -> Response:
        """Handle GET /v1/messages/batches/NAME."""
        return await self._serve(http, self._show_batch)

    async def batch_results(self, http: Request) -> Response:
        """Handle GET /v1/messages/batches/NAME/results."""
        return await self._serve(http, self._send_results)

    async def batch_cancel(self, http: Request) -> Response:
        """Handle POST /v1/messages/batches/NAME/cancel."""
        return await self._serve(http, self._cancel_batch)

    async def unknown(self, http: Request) -> Response:
        """Handle any other path."""
        return await self._serve(http, self._miss)

    async def _serve(
        self, http: Request, handle: Callable[[Request, Call], Awaitable[Response]]
    ) -> Response:
        call = self.log.open(path=http.url.path, request_id=f"req_{uuid.uuid4().hex[:24]}")
        try:
            if self.profile == "claude":
                refuse_headers(http.headers)
            return await handle(http, call)
        except RequestRefused as error:
            call.error = str(error)
            self.log.settle(call, status=error.status)
            body = self._error_body(call, {"type": error.kind, "message": str(error)})
            return JSONResponse(body, status_code=error.status, headers=self._headers(call))
        finally:
            self.log.close(call)

    async def _answer(self, http: Request, call: Call) -> Response:
        request, prompt = self._read_request(await self._read_json(http, call), call)
        fault = self.faults.take(task=prompt.task, model=request.model)
        call.fault = fault.kind if fault else None
        if fault and fault.kind == "status":
            return await self._fail(fault, call)
        reply, usage = self._reply(request, prompt, call, fault)
        self.log.settle(call, status=200)
        await asyncio.sleep(self.latency + (fault.seconds if fault and fault.kind != "drip" else 0))
        message: object = build_message(request, reply, usage)
        if fault and fault.kind == "shape":
            message = spoil_message(build_message(request, reply, usage), fault)
        return deliver(message, headers={**self._headers(call), **self._limits()}, fault=fault)

    def _read_request(self, body: object, call: Call) -> tuple[MessageRequest, Prompt]:
        strict = self.profile == "claude"
        if strict:
            refuse_sampling(body)
        request = parse_request(body, loose=not strict)
        if strict:
            refuse_request(request)
        prompt = parse_prompt(request.system_text(), request.user_text())
        call.model, call.task, call.mode = request.model, prompt.task, request.mode
        return request, prompt

    def _reply(
        self, request: MessageRequest, prompt: Prompt, call: Call, fault: Fault | None
    ) -> tuple[Reply, dict[str, object]]:
        """Compose and bill the reply, before a transport fault can drop it."""
        reply = compose_reply(request, self._think(prompt, model=request.model))
        if fault:
            reply = spoil_reply(reply, fault, request, prompt.task)
        usage = build_usage(reply, self.cache.charge(request))
        self.log.bill(call, usage, stop_reason=reply.stop_reason)
        return reply, usage

    def _answer_in_batch(self, params: object, batch: str, custom_id: str) -> dict[str, object]:
        """Answer, log and bill one request of a batch like a direct request. Raises RequestRefused."""
        call = self.log.open(path="/v1/messages/batches", request_id=f"req_{uuid.uuid4().hex[:24]}")
        call.batch, call.custom_id, call.request = batch, custom_id, params
        try:
            request, prompt = self._read_request(params, call)
            fault = self.faults.take(task=prompt.task, model=request.model)
            call.fault = fault.kind if fault else None
            if fault and fault.kind == "status":
                raise RequestRefused(fault.status, fault.error_type(), fault.message)
            reply, usage = self._reply(request, prompt, call, fault)
        except RequestRefused as error:
            call.error = str(error)
            self.log.settle(call, status=error.status)
            raise
        finally:
            self.log.close(call)
        usage["service_tier"] = "batch"
        self.log.settle(call, status=200)
        return build_message(request, reply, usage)

    async def _create_batch(self, http: Request, call: Call) -> Response:
        fault = self._take_batch_fault("batch_create", call)
        body = await self._read_json(http, call, most=self.batch_bytes)
        if fault and fault.kind == "status":
            return await self._fail(fault, call)
        expires = fault is not None and fault.kind == "expire"
        batch = self.held_batches.create(
            body,
            seconds=fault.seconds if fault and fault.kind == "slow" else self.batch_seconds,
            answered_of_expired=fault.answered if fault and expires else None,
        )
        return await self._deliver_batch(batch, http, call, fault)

    async def _list_batches(self, http: Request, call: Call) -> Response:
        fault = self._take_batch_fault("batch_list", call)
        if fault and fault.kind == "status":
            return await self._fail(fault, call)
        asked = http.query_params
        limit = asked.get("limit", "20")
        found, has_more = self.held_batches.page(
            limit=int(limit) if limit.isdecimal() else 0,
            after=asked.get("after_id", ""),
            before=asked.get("before_id", ""),
        )
        self.log.settle(call, status=200)
        told = {
            "data": [batch.describe(_base_of(http)) for batch in found],
            "has_more": has_more,
            "first_id": found[0].id if found else None,
            "last_id": found[-1].id if found else None,
        }
        return deliver(told, headers=self._headers(call), fault=fault)

    async def _show_batch(self, http: Request, call: Call) -> Response:
        fault = self._take_batch_fault("batch_retrieve", call)
        if fault and fault.kind == "status":
            return await self._fail(fault, call)
        batch = self.held_batches.find(http.path_params["name"])
        return await self._deliver_batch(batch, http, call, fault)

    async def _cancel_batch(self, http: Request, call: Call) -> Response:
        fault = self._take_batch_fault("batch_cancel", call)
        if fault and fault.kind == "status":
            return await self._fail(fault, call)
        batch = self.held_batches.cancel(http.path_params["name"])
        return await self._deliver_batch(batch, http, call, fault)

    async def _send_results(self, http: Request, call: Call) -> Response:
        fault = self._take_batch_fault("batch_results", call)
        if fault and fault.kind == "status":
            return await self._fail(fault, call)
        batch = self.held_batches.results(http.path_params["name"])
        self.log.settle(call, status=200)
        lines = b"".join(batch.lines())
        return deliver_lines(lines, headers=self._headers(call), fault=fault)

    def _take_batch_fault(self, task: str, call: Call) -> Fault | None:
        if self.profile != "claude":
            raise RequestRefused(404, "not_found_error", "Not found: Message Batches")
        call.task = task
        fault = self.faults.take(task=task, model="")
        call.fault = fault.kind if fault else None
        return fault

    async def _deliver_batch(
        self, batch: HeldBatch, http: Request, call: Call, fault: Fault | None
    ) -> Response:
        call.batch = batch.id
        self.log.settle(call, status=200)
        if fault and fault.kind == "delay":
            await asyncio.sleep(fault.seconds)
        return deliver(batch.describe(_base_of(http)), headers=self._headers(call), fault=fault)

    def _think(self, prompt: Prompt, *, model: str) -> Answer:
        if not self.simulated:
            return answer_prompt(prompt, self.book)
        if model not in self.simulated:
            raise RequestRefused(404, "not_found_error", f"model: {model}")
        return self.simulated[model].answer(prompt)

    async def _fail(self, fault: Fault, call: Call) -> Response:
        self.log.settle(call, status=fault.status)
        await asyncio.sleep(fault.seconds)
        headers = {**self._headers(call), **fault.error_headers()}
        if fault.text is not None:
            return Response(
                fault.text, status_code=fault.status, headers=headers, media_type="text/html"
            )
        error: dict[str, object] = {"type": fault.error_type(), "message": fault.message}
        if fault.error_code:
            error["details"] = {"error_code": fault.error_code}
        return JSONResponse(
            self._error_body(call, error), status_code=fault.status, headers=headers
        )

    async def _count(self, http: Request, call: Call) -> Response:
        if self.profile == "ollama":
            return await self._miss(http, call)
        body = await self._read_json(http, call)
        if not isinstance(body, dict) or "max_tokens" in body:
            raise refused("max_tokens: Extra inputs are not permitted")
        refuse_sampling(body)
        request = parse_request({**body, "max_tokens": 1}, loose=False)
        self.log.settle(call, status=200)
        return JSONResponse({"input_tokens": count_input(request)}, headers=self._headers(call))

    async def _list(self, http: Request, call: Call) -> Response:
        name = http.path_params.get("name")
        if name is not None and name not in MODELS:
            raise RequestRefused(404, "not_found_error", f"model: {name}")
        self.log.settle(call, status=200)
        listed = list_models() if self.profile == "claude" else list_models_like_ollama()
        return JSONResponse(describe_model(name) if name else listed, headers=self._headers(call))

    async def _miss(self, http: Request, call: Call) -> Response:
        raise RequestRefused(404, "not_found_error", f"Not found: {http.method} {http.url.path}")

    async def _read_json(self, http: Request, call: Call, *, most: int = MAX_BODY) -> object:
        body = await _read_limited(http, most)
        try:
            value = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise refused(f"The request body is not valid JSON: {error}") from None
        self.log.read(call, body=body, request=value)
        return value

    def _headers(self, call: Call) -> dict[str, str]:
        return {"request-id": call.request_id} if self.profile == "claude" else {}

    def _limits(self) -> dict[str, str]:
        if self.profile != "claude":
            return {}
        figures = (("limit", 0), ("remaining", 1))
        headers = {
            f"anthropic-ratelimit-{name}-{figure}": str(limit - used)
            for name, limit in _LIMITS.items()
            for figure, used in figures
        }
        return {**headers, **{f"anthropic-ratelimit-{name}-reset": _RESET for name in _LIMITS}}

    def _error_body(self, call: Call, error: dict[str, object]) -> dict[str, object]:
        body: dict[str, object] = {"type": "error", "error": error}
        return {**body, "request_id": call.request_id} if self.profile == "claude" else body


def build_app(standin: StandIn) -> Starlette:
    """Build the ASGI application of a demo model."""

    async def health(http: Request) -> Response:
        return JSONResponse({"status": "ok", "profile": standin.profile, "book": len(standin.book)})

    async def calls(http: Request) -> Response:
        after = http.query_params.get("after", "0")
        return _answer_json(standin.log.report(after=int(after) if after.isdecimal() else 0))

    async def faults(http: Request) -> Response:
        if http.method == "GET":
            return _answer_json({"pending": standin.faults.pending()})
        try:
            rules = [fit(Fault, rule) for rule in await _read_rules(http)]
        except RequestRefused as error:
            return JSONResponse({"error": str(error)}, status_code=error.status)
        for rule in rules:
            standin.faults.add(rule)
        return _answer_json({"pending": standin.faults.pending()})

    async def reset(http: Request) -> Response:
        standin.reset()
        return JSONResponse({"status": "reset"})

    return Starlette(
        routes=[
            Route("/v1/messages", standin.messages, methods=["POST"]),
            Route("/v1/messages/count_tokens", standin.count_tokens, methods=["POST"]),
            Route("/v1/messages/batches", standin.batches, methods=["GET", "POST"]),
            Route("/v1/messages/batches/{name}", standin.batch),
            Route("/v1/messages/batches/{name}/results", standin.batch_results),
            Route("/v1/messages/batches/{name}/cancel", standin.batch_cancel, methods=["POST"]),
            Route("/v1/models", standin.models),
            Route("/v1/models/{name}", standin.models),
            Route("/healthz", health),
            Route("/_standin/calls", calls),
            Route("/_standin/faults", faults, methods=["GET", "POST"]),
            Route("/_standin/reset", reset, methods=["POST"]),
            Route(
                "/{anything:path}",
                standin.unknown,
                methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            ),
        ]
    )


def _answer_json(value: object) -> Response:
    return Response(write_json(value), media_type="application/json")


async def _read_rules(http: Request) -> list[object]:
    # A cross-origin page can post text to loopback, but JSON requires a preflight request.
    if http.headers.get("content-type", "").split(";")[0] != "application/json":
        raise RequestRefused(415, "invalid_request_error", "Send application/json.")
    try:
        rules = json.loads(await _read_limited(http))
    except ValueError:
        raise refused("not valid JSON") from None
    if not isinstance(rules, list):
        raise refused("send a list of fault rules")
    return rules


def _base_of(http: Request) -> str:
    return f"{http.url.scheme}://{http.url.netloc}"


async def _read_limited(http: Request, most: int = MAX_BODY) -> bytes:
    """Read the body. Raises RequestRefused (413) as soon as the body exceeds the limit."""
    body = bytearray()
    async for part in http.stream():
        body += part
        if len(body) > most:
            raise RequestRefused(
                413, "request_too_large", f"Request exceeds the maximum size of {most} bytes."
            )
    return bytes(body)
