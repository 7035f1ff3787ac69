"""Faults that tests inject: rules queued by POST /_standin/faults and used by matching requests.

An invalid request is rejected first and uses no rule.

 kind            what the client sees                                            billed
 status          `status` with the API's error body, or with `text` as body      no
 delay           the normal answer, `seconds` later                              yes
 death           the connection dies in the middle of the answer                 yes
 cut             200 and a body that ends in the middle                          yes
 shape           200 and `body` as JSON, or the message without the keys `drop`  yes
 max_tokens      the answer cut in the middle, stop_reason max_tokens            yes
 refusal         no content, stop_reason refusal, stop_details with `category`   yes
 text            `text`, or a `sample`, as the only text block                   yes
 tool_input      a call of the tool with `input` unchanged                       yes
 contradiction   two JSON objects with opposite verdicts                         yes
 thinking        a thinking block and nothing else                               yes
 unknown_block   a block of an unknown kind, then the normal answer              yes
 drip            the first `bytes` bytes one by one, `seconds` apart             yes
 close           the normal answer, then the idle connection closed unannounced  yes

Message Batches have the tasks batch_create, batch_retrieve, batch_list, batch_results and batch_cancel. They accept
status, delay, death, cut and close (a batch is created before its connection dies). Only batch_create accepts:

 expire          the batch expires: its first `answered` requests are answered   those
 slow            the batch takes `seconds` instead of the usual time             yes

A rule for the task of a request (such as generate) also applies inside a batch: a status makes the request *errored*,
and reply faults change its reply. Transport faults have no effect there.

A rule can have a delay of `seconds` before its effect, and can be limited to a `task` or a `model`. It skips the first
`skip` matching requests and applies to the next `count` (default 1; null means all).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from pipeline.standin.server.message_reply import (
    Reply,
    cut_reply,
    text_block,
    thinking_block,
    tool_use,
    unknown_block,
)
from pipeline.standin.server.message_request import MessageRequest

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    409: "conflict_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}

_FENCE = "```"
SAMPLES = {
    "several_fences": (
        f"First look:\n\n{_FENCE}bash\ndf -h\n{_FENCE}\n\nThen clean:\n\n"
        f"{_FENCE}bash\nfind /tmp -type f -mtime +7 -print\n{_FENCE}\n"
    ),
    "prose": "Yes, this matches what was asked, as far as I can see.",
    "nested_fence": (
        f"{_FENCE}bash\ncat > notes.md <<'END'\nUsage:\n{_FENCE}\nreport.sh --all\n{_FENCE}\nEND\n"
        f"wc -l notes.md\n{_FENCE}\n"
    ),
    "no_script": f"I would start like this:\n\n{_FENCE}python\nprint('hello')\n{_FENCE}\n",
    "nothing": "",
}
_OPPOSITES = {"explain": ("error", "no_error")}


class Fault(BaseModel):
    """A fault rule. The module docstring describes each kind."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal[
        "status", "delay", "death", "cut", "shape", "max_tokens", "refusal", "text", "tool_input",
        "contradiction", "thinking", "unknown_block", "drip", "close", "expire", "slow",
    ]  # fmt: skip
    task: str | None = None
    model: str | None = None
    skip: int = Field(default=0, ge=0)
    count: int | None = Field(default=1, ge=1)
    seconds: float = Field(default=0, ge=0)
    status: int = Field(default=500, ge=400, le=599)
    type: str | None = None
    error_code: str | None = None
    message: str = "This fault was requested."
    retry_after: float | None = None
    headers: dict[str, str] = {}
    text: str | None = None
    sample: Literal["several_fences", "prose", "nested_fence", "no_script", "nothing"] | None = None
    body: object = None
    drop: list[str] = []
    category: (
        Literal["cyber", "bio", "frontier_llm", "reasoning_extraction", "general_harms"] | None
    ) = None
    input: object = None
    bytes: int = Field(default=12, ge=1)
    answered: int = Field(default=0, ge=0)

    def error_type(self) -> str:
        """Return the error type of a status fault."""
        return self.type or ERROR_TYPES.get(self.status, "api_error")

    def error_headers(self) -> dict[str, str]:
        """Return the headers of a status fault."""
        waiting = {} if self.retry_after is None else {"retry-after": f"{self.retry_after:g}"}
        return {**waiting, **self.headers}


@dataclass
class _Queued:
    rule: Fault
    skip: int
    left: int | None


class FaultQueue:
    """The unused rules, in order of arrival."""

    def __init__(self) -> None:
        self._queued: list[_Queued] = []

    def add(self, rule: Fault) -> None:
        """Queue a rule."""
        self._queued.append(_Queued(rule, rule.skip, rule.count))

    def clear(self) -> None:
        """Remove every rule."""
        self._queued.clear()

    def pending(self) -> list[dict[str, object]]:
        """Return the unused rules with their remaining uses."""
        return [
            {**queued.rule.model_dump(exclude_defaults=True), "left": queued.left}
            for queued in self._queued
        ]

    def take(self, *, task: str, model: str) -> Fault | None:
        """Use and return the first rule that matches this request, if any."""
        for queued in self._queued:
            if queued.rule.task not in (None, task) or queued.rule.model not in (None, model):
                continue
            if queued.skip:
                queued.skip -= 1
                continue
            if queued.left is not None:
                queued.left -= 1
                if not queued.left:
                    self._queued.remove(queued)
            return queued.rule
        return None


def spoil_reply(reply: Reply, fault: Fault, request: MessageRequest, task: str) -> Reply:
    """Apply `fault` to a reply. Transport faults do not change it."""
    thinking = reply.thinking_tokens
    if fault.kind == "max_tokens":
        return cut_reply(reply, thinking + max(1, (reply.output_tokens() - thinking) // 2))
    if fault.kind == "refusal":
        details: dict[str, object] = {
            "type": "refusal",
            "category": fault.category,
            "explanation": None,
        }
        return Reply([], "refusal", stop_details=details, thinking_tokens=thinking)
    if fault.kind == "text":
        text = SAMPLES[fault.sample] if fault.sample else fault.text or ""
        return Reply([text_block(text)] if text else [], "end_turn", thinking_tokens=thinking)
    if fault.kind == "tool_input":
        name = request.tools[0].name if request.tools else "answer"
        return Reply([tool_use(name, fault.input)], "tool_use", thinking_tokens=thinking)
    if fault.kind == "contradiction":
        return replace(reply, content=[text_block(_contradict(task))], stop_reason="end_turn")
    if fault.kind == "thinking":
        return Reply([thinking_block()], "end_turn", thinking_tokens=thinking or 250)
    if fault.kind == "unknown_block":
        return replace(reply, content=[unknown_block(), *reply.content])
    return reply


def spoil_message(message: Mapping[str, object], fault: Fault) -> object:
    """Return the response body for a `shape` fault."""
    if fault.drop:
        return {name: value for name, value in message.items() if name not in fault.drop}
    return fault.body


def _contradict(task: str) -> str:
    reasons = ("On the whole it does.", "On second thoughts it does not.")
    verdicts = _OPPOSITES.get(task, ("match", "mismatch"))
    objects = [
        {"verdict": verdict, "reason": why} for verdict, why in zip(verdicts, reasons, strict=True)
    ]
    return "\n\n".join(json.dumps(item) for item in objects)
