"""Reject well-formed requests that the real API rejects.

Otherwise the product could pass its tests with requests that the API rejects. Sources: the API's documentation and the
docstrings of the Python SDK 2.12 (message_create_params, model_capabilities).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pipeline.standin.server.message_request import (
    MessageRequest,
    RequestRefused,
    TextBlock,
    Turn,
    refused,
)

MAX_BODY = 32 * 1024 * 1024
MAX_BATCH_BODY = 256 * 1024 * 1024
_VERSIONS = {"2023-01-01", "2023-06-01", "2026-10-21"}
_SAMPLING = ("temperature", "top_p", "top_k")
_EFFORT_NEEDS_THINKING = {"xhigh", "max"}
_MAX_BREAKPOINTS = 4

# Models on which thinking cannot be turned off.
_ALWAYS_THINKING = ("claude-opus-5-5", "claude-fable-", "claude-mythos-")

# Constrained decoding does not support these keywords. The SDK's transform_schema moves them to descriptions.
_UNSUPPORTED_KEYWORDS = {
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
    "maxLength", "maxItems", "uniqueItems", "minProperties", "maxProperties", "patternProperties",
    "not", "if", "then", "else",
}  # fmt: skip


def refuse_headers(headers: Mapping[str, str]) -> None:
    """Reject a request without a credential or with an unknown API version."""
    bearer = headers.get("authorization", "")
    key = (
        bearer[len("bearer ") :]
        if bearer.lower().startswith("bearer ")
        else headers.get("x-api-key", "")
    )
    if not key.strip():
        raise RequestRefused(
            401, "authentication_error", "A credential is required: authorization or x-api-key."
        )
    version = headers.get("anthropic-version", "")
    if not version:
        raise refused("anthropic-version: header is required")
    if version not in _VERSIONS:
        raise refused(f'anthropic-version: "{version}" is not a valid version')


def refuse_sampling(body: object) -> None:
    """Reject sampling parameters, even with default values (API version 2026-10-21)."""
    for name in _SAMPLING:
        if isinstance(body, dict) and name in body:
            raise refused(f"{name}: sampling parameters are not supported")


def refuse_request(request: MessageRequest) -> None:
    """Raise RequestRefused for requests that no current Claude model accepts."""
    _refuse_messages(request)
    _refuse_thinking(request)
    _refuse_tools(request)
    if request.output_config.format:
        _refuse_schema(request.output_config.format.schema_, "output_config.format.schema")
    if any(not sequence.strip() for sequence in request.stop_sequences):
        raise refused("stop_sequences: each stop sequence must contain non-whitespace")
    if request.stream:
        raise refused("stream: streaming is not supported")


def is_thinking(request: MessageRequest) -> bool:
    """Return whether the model thinks before answering this request."""
    asked = request.thinking is not None and request.thinking.type in ("adaptive", "enabled")
    return asked or request.model.startswith(_ALWAYS_THINKING)


def _refuse_messages(request: MessageRequest) -> None:
    if request.messages[0].role == "assistant":
        raise refused("messages: first message must use the user role")
    if request.messages[-1].role == "assistant":
        raise refused("messages: this model does not support assistant message prefill")
    for at, turn in enumerate(request.messages):
        if not turn.content:
            raise refused(f"messages.{at}: all messages must have non-empty content")
        if any(not text.strip() for text in _texts(turn)):
            raise refused(f"messages.{at}: text content blocks must contain non-whitespace text")
    blocks = [] if isinstance(request.system, str) else request.system
    if any(not block.text.strip() for block in blocks):
        raise refused("system: text content blocks must be non-empty")
    if _count_breakpoints(request) > _MAX_BREAKPOINTS:
        raise refused(f"A maximum of {_MAX_BREAKPOINTS} blocks with cache_control may be provided.")


def _texts(turn: Turn) -> list[str]:
    if isinstance(turn.content, str):
        return [turn.content]
    return [block.text for block in turn.content if isinstance(block, TextBlock)]


def _count_breakpoints(request: MessageRequest) -> int:
    marks: list[object] = [request.cache_control, *(tool.cache_control for tool in request.tools)]
    if not isinstance(request.system, str):
        marks += [block.cache_control for block in request.system]
    for turn in request.messages:
        if not isinstance(turn.content, str):
            marks += [block.cache_control for block in turn.content if isinstance(block, TextBlock)]
    return sum(mark is not None for mark in marks)


def _refuse_thinking(request: MessageRequest) -> None:
    thinking = request.thinking
    off = thinking is not None and thinking.type in ("disabled", "between_tools")
    if off and request.model.startswith(_ALWAYS_THINKING):
        raise refused(f"thinking: {request.model} does not support switching thinking off")
    if off and request.output_config.effort in _EFFORT_NEEDS_THINKING:
        raise refused(f"output_config.effort: {request.output_config.effort} needs thinking")
    if thinking and thinking.type == "enabled":
        if thinking.budget_tokens is None:
            raise refused("thinking.enabled.budget_tokens: Field required")
        if not 1024 <= thinking.budget_tokens < request.max_tokens:
            raise refused(
                "thinking.enabled.budget_tokens: must be at least 1024 and less than max_tokens"
            )


def _refuse_tools(request: MessageRequest) -> None:
    names = [tool.name for tool in request.tools]
    if len(set(names)) < len(names):
        raise refused("tools: Tool names must be unique.")
    for at, tool in enumerate(request.tools):
        if tool.input_schema.get("type") != "object":
            raise refused(f"tools.{at}.input_schema.type: must be object")
        if tool.strict:
            _refuse_schema(tool.input_schema, f"tools.{at}.input_schema")
    choice = request.tool_choice
    if choice is None or choice.type in ("auto", "none"):
        return
    if not names:
        raise refused("tool_choice: may only be specified while providing tools")
    if choice.type == "tool" and choice.name not in names:
        raise refused(f"tool_choice.name: tool {choice.name!r} not found in provided tools")
    if is_thinking(request):
        raise refused("tool_choice: thinking may not be enabled when tool_choice forces tool use")


def _refuse_schema(schema: dict[str, object], place: str) -> None:
    for part in _subschemas(schema):
        unsupported = sorted(_UNSUPPORTED_KEYWORDS & part.keys())
        if unsupported:
            raise refused(f"{place}: keyword '{unsupported[0]}' is not supported")
        if part.get("type") == "object" and part.get("additionalProperties") is not False:
            raise refused(f"{place}: objects need 'additionalProperties' explicitly set to false")


def _subschemas(schema: dict[str, object]) -> Iterator[dict[str, object]]:
    yield schema
    for keyword, value in schema.items():
        named = (
            value.values()
            if keyword in ("properties", "$defs", "definitions") and isinstance(value, dict)
            else ()
        )
        listed = value if keyword in ("anyOf", "allOf", "oneOf") and isinstance(value, list) else ()
        single = (value,) if keyword == "items" else ()
        for part in (*named, *listed, *single):
            if isinstance(part, dict):
                yield from _subschemas(part)
