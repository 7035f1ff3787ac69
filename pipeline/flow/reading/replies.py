"""Helpers that every reader calls first: whether the reply can be read, and the input that it passed to a tool."""

from __future__ import annotations

import json

from pipeline.flow.reading.markup import find_objects
from pipeline.types import ReadingOutcome, Reply

ECHO = "it repeats the reply format without filling it in"

# Some servers return "length" instead of "max_tokens".
_CUT = ("max_tokens", "length", "model_context_window_exceeded")


def stopped(reply: Reply) -> ReadingOutcome | None:
    """Return the outcome of a refused, truncated or empty reply, or None if the reply can be read."""
    if reply.stop_reason == "refusal" or reply.refusal:
        return ReadingOutcome.REFUSED
    if reply.stop_reason in _CUT:
        return ReadingOutcome.TRUNCATED
    if not reply.text.strip() and reply.tool_input is None:
        return ReadingOutcome.EMPTY
    return None


def said_by_tool(reply: Reply, key: str) -> dict[str, object] | None:
    """Return the tool's input if it contains the key, else None."""
    if reply.tool_input is None:
        return None
    found = find_objects(json.dumps(reply.tool_input), key)
    return found[0].value if found else None
