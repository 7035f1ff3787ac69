"""Convert an answer to a Messages API message in schema, tool or text mode, with its usage."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pipeline.standin.server.json_schema import conform
from pipeline.standin.server.message_request import MessageRequest, Tool
from pipeline.standin.server.token_counts import InputUsage, count_thinking, count_tokens

NO_TASK = "This is ScriptSmith's demo model. It answers only the tasks of its pipeline."

_CHARACTERS_PER_TOKEN = 4


@dataclass(frozen=True)
class Reply:
    """The model's reply and its stop reason."""

    content: list[dict[str, object]]
    stop_reason: str
    stop_sequence: str | None = None
    stop_details: dict[str, object] | None = None
    thinking_tokens: int = field(default=0, kw_only=True)

    def output_tokens(self) -> int:
        """Return the simulated number of output tokens, including thinking. As in the real API, it is never 0."""
        said = sum(
            count_tokens(text_of(block)) for block in self.content if block["type"] != "thinking"
        )
        return max(1, said + self.thinking_tokens)


def compose_reply(request: MessageRequest, answer: Mapping[str, object]) -> Reply:
    """Compose a reply from `answer` in the requested mode, truncated at `max_tokens` and at stop sequences."""
    thinking = count_thinking(request)
    if "refusal" in answer:
        return refuse(str(answer["refusal"]), thinking_tokens=thinking)
    if request.mode == "tool":
        tool = _pick_tool(request)
        used = tool_use(tool.name, conform(tool.input_schema, answer))
        reply = Reply([used], "tool_use")
    elif request.mode == "schema" and request.output_config.format:
        value = conform(request.output_config.format.schema_, answer)
        reply = Reply([text_block(json.dumps(value, ensure_ascii=False))], "end_turn")
    else:
        reply = Reply([text_block(write_text(answer))], "end_turn")
    reply = replace(_stop_at_sequence(reply, request.stop_sequences), thinking_tokens=thinking)
    if thinking:
        reply = replace(reply, content=[thinking_block(), *reply.content])
    return (
        cut_reply(reply, request.max_tokens)
        if reply.output_tokens() > request.max_tokens
        else reply
    )


def refuse(why: str, *, thinking_tokens: int) -> Reply:
    """Return a refusal in the model's own words, in any mode."""
    details: dict[str, object] = {"type": "refusal", "category": None, "explanation": why}
    return Reply(
        [text_block(why)], "refusal", stop_details=details, thinking_tokens=thinking_tokens
    )


def text_block(text: str) -> dict[str, object]:
    """Return a text block."""
    return {"type": "text", "text": text, "citations": None}


def unknown_block() -> dict[str, object]:
    """Return a content block of an unknown kind."""
    return {"type": "hologram", "text": "Not for you.", "hologram": {"frames": 3}}


def thinking_block() -> dict[str, object]:
    """Return a thinking block without its text, as the API does by default."""
    return {"type": "thinking", "thinking": "", "signature": "c3RhbmQtaW4="}


def tool_use(name: str, value: object) -> dict[str, object]:
    """Return a content block that calls the tool `name` with `value`."""
    identifier = f"toolu_{uuid.uuid4().hex[:24]}"
    return {
        "type": "tool_use",
        "id": identifier,
        "name": name,
        "input": value,
        "caller": {"type": "direct"},
    }


def text_of(block: Mapping[str, object]) -> str:
    """Return the billed output of a content block: its text, or its tool input as JSON."""
    if block["type"] == "tool_use":
        return json.dumps(block["input"], ensure_ascii=False)
    return str(block.get("text", ""))


def write_text(answer: Mapping[str, object]) -> str:
    """Return the answer as text: a fenced Bash block for a script, otherwise a JSON object."""
    if not answer:
        return NO_TASK
    script = answer.get("script")
    if isinstance(script, str):
        fence = "```"
        while fence in script:
            fence += "`"
        end = "" if script.endswith("\n") else "\n"  # The closing fence needs its own line.
        return f"Here is the script.\n\n{fence}bash\n{script}{end}{fence}\n"
    return f"My answer:\n\n{json.dumps(answer, ensure_ascii=False, indent=2)}\n"


def cut_reply(reply: Reply, max_tokens: int) -> Reply:
    """Truncate `reply` at `max_tokens`: cut its text, or empty a tool's input."""
    left = max(0, max_tokens - reply.thinking_tokens)
    content = []
    for block in reply.content:
        if block["type"] == "thinking":
            content.append(block)
        elif left and block["type"] == "tool_use":
            content.append({**block, "input": {}})
            left = 0
        elif left:
            text = text_of(block)[: left * _CHARACTERS_PER_TOKEN]
            content.append(text_block(text))
            left -= math.ceil(len(text) / _CHARACTERS_PER_TOKEN)
    return Reply(content, "max_tokens", thinking_tokens=min(reply.thinking_tokens, max_tokens))


def build_message(
    request: MessageRequest, reply: Reply, usage: dict[str, object]
) -> dict[str, object]:
    """Return the body of a response with status 200."""
    return {
        "id": f"msg_{uuid.uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "content": reply.content,
        "stop_reason": reply.stop_reason,
        "stop_sequence": reply.stop_sequence,
        "stop_details": reply.stop_details,
        "container": None,
        "diagnostics": None,
        "usage": usage,
    }


def build_usage(reply: Reply, charged: InputUsage) -> dict[str, object]:
    """Return the reply's usage in the API's format."""
    return {
        "input_tokens": charged.fresh,
        "cache_creation_input_tokens": charged.written_5m + charged.written_1h,
        "cache_read_input_tokens": charged.read,
        "cache_creation": {
            "ephemeral_5m_input_tokens": charged.written_5m,
            "ephemeral_1h_input_tokens": charged.written_1h,
        },
        "output_tokens": reply.output_tokens(),
        "output_tokens_details": {"thinking_tokens": reply.thinking_tokens},
        "server_tool_use": None,
        "service_tier": "standard",
    }


def _pick_tool(request: MessageRequest) -> Tool:
    wanted = request.tool_choice.name if request.tool_choice else None
    return next((tool for tool in request.tools if tool.name == wanted), request.tools[0])


def _stop_at_sequence(reply: Reply, sequences: list[str]) -> Reply:
    text = text_of(reply.content[0])
    found = [(text.index(sequence), sequence) for sequence in sequences if sequence in text]
    if reply.stop_reason != "end_turn" or not found:
        return reply
    end, sequence = min(found)
    return Reply([text_block(text[:end])] if end else [], "stop_sequence", sequence)
