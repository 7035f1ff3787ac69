"""Simulated token counts: about four characters per token, with prompt cache reads and writes."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable
from typing import NamedTuple

from pipeline.standin.server.message_request import CacheControl, MessageRequest, TextBlock
from pipeline.standin.server.refusals import is_thinking

_CHARACTERS_PER_TOKEN = 4
_LIFETIMES = {"5m": 300.0, "1h": 3600.0}

# The shortest prefix that is cached, by model. The API silently does not cache shorter prefixes.
_FLOORS = {"claude-haiku-5-5": 512, "claude-opus-5": 512, "claude-opus-4-7": 2048}
_DEFAULT_FLOOR = 1024

# Thinking counts toward max_tokens, so a small max_tokens can leave no text.
_THINKING = {"low": 60, "medium": 250, "high": 1000, "xhigh": 2000, "max": 4000}


class InputUsage(NamedTuple):
    """The numbers of input tokens that were new, written to the cache (by lifetime) and read from the cache."""

    fresh: int
    written_5m: int
    written_1h: int
    read: int


def count_tokens(text: str) -> int:
    """Return the simulated number of tokens in `text`."""
    return math.ceil(len(text) / _CHARACTERS_PER_TOKEN)


def count_thinking(request: MessageRequest) -> int:
    """Return the simulated number of thinking tokens, or 0 if the model does not think."""
    return _THINKING[request.output_config.effort or "medium"] if is_thinking(request) else 0


def count_input(request: MessageRequest) -> int:
    """Return the simulated number of input tokens, cached or not."""
    return sum(count_tokens(text) for text, _ in _blocks(request))


class PromptCache:
    """The prefixes that were recently sent with a cache breakpoint."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._expiry: dict[str, float] = {}

    def clear(self) -> None:
        """Remove every prefix."""
        self._expiry.clear()

    def charge(self, request: MessageRequest) -> InputUsage:
        """Count the input tokens of `request` as new, written and read, and store its prefixes."""
        hashed = hashlib.sha256(request.model.encode())
        floor = _FLOORS.get(request.model, _DEFAULT_FLOOR)
        now = self._clock()
        total = read = written = 0
        last_ttl = "5m"
        for text, mark in _blocks(request):
            hashed.update(text.encode())
            total += count_tokens(text)
            if mark is None or total < floor:
                continue
            prefix = hashed.hexdigest()
            if self._expiry.get(prefix, 0) > now:
                read, written = total, 0
            else:
                written = total - read
                last_ttl = mark.ttl
            self._expiry[prefix] = now + _LIFETIMES[mark.ttl]
        by_ttl = {last_ttl: written}
        return InputUsage(total - read - written, by_ttl.get("5m", 0), by_ttl.get("1h", 0), read)


def _blocks(request: MessageRequest) -> list[tuple[str, CacheControl | None]]:
    """Return the model's input in cache order: tools, system, messages."""
    blocks: list[tuple[str, CacheControl | None]] = [
        (json.dumps([tool.name, tool.description, tool.input_schema]), tool.cache_control)
        for tool in request.tools
    ]
    if request.output_config.format:
        blocks.append((json.dumps(request.output_config.format.schema_), None))
    if isinstance(request.system, str):
        blocks.append((request.system, None))
    else:
        blocks += [(block.text, block.cache_control) for block in request.system]
    for turn in request.messages:
        if isinstance(turn.content, str):
            blocks.append((turn.content, None))
        else:
            blocks += [(b.text, b.cache_control) for b in turn.content if isinstance(b, TextBlock)]
    if request.cache_control:  # A top-level breakpoint marks the last block.
        blocks[-1] = (blocks[-1][0], request.cache_control)
    return blocks
