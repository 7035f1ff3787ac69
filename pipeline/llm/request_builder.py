"""Build requests that every Messages API server accepts, with the options that the endpoint supports."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from pipeline.llm.types import Request
from pipeline.types import Mode, Question, Reply

_TOOL = "answer"


@dataclass(frozen=True)
class RoleSpec:
    """The endpoint and model of a role, as stored in a Run's snapshot."""

    endpoint: str
    endpoint_id: int
    model: str
    mode: Mode
    max_tokens: int = 4096
    effort: str = ""
    temperature: float | None = None


def build_request(question: Question, role: RoleSpec) -> Request:
    """Return the body for `messages.create`: system, one user message, max_tokens, and the mode's output format."""
    request: Request = {
        "model": role.model,
        "max_tokens": role.max_tokens * (2 if question.longer else 1),
        "system": question.system,
        "messages": [{"role": "user", "content": _user_text(question, role.mode)}],
    }
    config: dict[str, object] = {"effort": role.effort} if role.effort else {}
    if role.mode is Mode.SCHEMA:
        config["format"] = {"type": "json_schema", "schema": question.schema}
    elif role.mode is Mode.TOOL:
        request["tools"] = [
            {"name": _TOOL, "description": "Give the answer.", "input_schema": question.schema}
        ]
        request["tool_choice"] = {"type": "tool", "name": _TOOL}
    if config:
        request["output_config"] = config
    # Claude rejects sampling parameters, but local servers accept them in the body.
    if role.temperature is not None:
        request["extra_body"] = {"temperature": max(role.temperature, question.temperature)}
    return request


def _user_text(question: Question, mode: Mode) -> str:
    """Return the question, what was missing in the last answer, and the one form of answer that the mode reads."""
    if not question.states_form:
        return question.user
    closing = f"{question.missing} {_answer_form(question, mode)}".strip()
    return f"{question.user}\n\n{closing}"


def _answer_form(question: Question, mode: Mode) -> str:
    properties = question.schema.get("properties")
    fields = properties if isinstance(properties, dict) else {}
    if mode is Mode.TOOL:
        return f"Answer with the tool “{_TOOL}” and nothing else."
    if mode is Mode.TEXT and list(fields) == ["script"]:
        return "Answer with one ```bash block that contains the whole script, and no explanation."
    if mode is Mode.TEXT and list(fields) == ["functionality"]:
        return f"Answer with {fields['functionality']['description']}."
    form = ", ".join(f'"{name}": {_value_form(value)}' for name, value in fields.items())
    return f"Answer with a JSON object: {{{form}}}"


def _value_form(schema: dict[str, object]) -> str:
    """Describe a value of the answer to a model, such as `"match" or "mismatch"` or `["one sentence"]`."""
    choices, items = schema.get("enum"), schema.get("items")
    if isinstance(choices, list):
        return " or ".join(f'"{choice}"' for choice in choices)
    if isinstance(items, dict):
        return f"[{_value_form(items)}]"
    return f'"{schema.get("description", "...")}"'


def hash_call(
    run: int, question: Question, *, refinement: int | None, endpoint: str, request: Request
) -> str:
    """Return the call's key in the ledger: the hex SHA-256 of its position, endpoint and canonical request."""
    canonical = json.dumps(
        [run, question.stage, question.round, question.sample, refinement, endpoint, request],
        sort_keys=True,
        ensure_ascii=True,
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def reply_of(message: dict[str, object]) -> Reply:
    """Reduce a server's message to text, stop reason and tool input.

    Blocks are identified by `type`, never by class, and unknown types are skipped. Some servers send the tool input as
    a JSON string. Multiple tool calls are converted to text, so that the parsers see all of them.
    """
    texts: list[str] = []
    inputs: list[object] = []
    content = message.get("content")
    for block in content if isinstance(content, list) else []:
        if not isinstance(block, dict):
            continue
        if block.get("type") == "text" and isinstance(block.get("text"), str):
            texts.append(block["text"])
        elif block.get("type") == "tool_use":
            inputs.append(_input_of(block))
    only = inputs[0] if len(inputs) == 1 else None
    if not isinstance(only, dict):
        texts += [_as_text(value) for value in inputs if value]
    details = message.get("stop_details")
    category = details.get("category") if isinstance(details, dict) else None
    stop = message.get("stop_reason")
    return Reply(
        text="".join(texts),
        stop_reason=stop if isinstance(stop, str) else "end_turn",
        tool_input=only if isinstance(only, dict) else None,
        refusal=str(category or "refused") if stop == "refusal" else "",
    )


def _input_of(block: dict[str, object]) -> object:
    value = block.get("input")
    if not isinstance(value, str):
        return value
    try:
        read: object = json.loads(value, strict=False)
    except (json.JSONDecodeError, RecursionError):
        return value
    return read if isinstance(read, dict) else value


def _as_text(value: object) -> str:
    return f"\n{value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}\n"
