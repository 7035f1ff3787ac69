"""Read the token counts of a reply. They can be reported, not reported, or not credible."""

from __future__ import annotations

import json
from typing import NamedTuple

from pipeline.llm.types import Usage, UsageDoubt

# No model reads or writes more tokens in one call, and such a reply would exceed the size limit.
MOST_TOKENS = 20_000_000
_REQUIRED = ("input_tokens", "output_tokens")
_FIELDS = {
    "input": "input_tokens",
    "output": "output_tokens",
    "cache_read": "cache_read_input_tokens",
    "cache_write": "cache_creation_input_tokens",
}


class Counted(NamedTuple):
    usage: Usage
    doubt: UsageDoubt | None = None
    said: str = ""


def read_usage(message: dict[str, object]) -> Counted:
    """Return the usage that a message reports. A missing or implausible count invalidates all counts.

    Input and output tokens are required. Missing cache tokens count as zero.
    """
    reported = message.get("usage")
    if reported is not None and not isinstance(reported, dict):
        return _not_believed(reported)
    fields: dict[str, object] = reported or {}
    if any(fields.get(name) is None for name in _REQUIRED):
        return Counted(Usage(), UsageDoubt.NOT_REPORTED)
    details = fields.get("output_tokens_details")
    thinking = details.get("thinking_tokens") if isinstance(details, dict) else None
    found = {ours: fields.get(theirs) for ours, theirs in _FIELDS.items()} | {"thinking": thinking}
    counts: dict[str, int] = {}
    for name, value in found.items():
        count = 0 if value is None else value
        if isinstance(count, bool) or not isinstance(count, int) or not 0 <= count <= MOST_TOKENS:
            return _not_believed(fields)
        counts[name] = count
    return Counted(Usage(**counts))


def _not_believed(reported: object) -> Counted:
    try:
        said = json.dumps(reported, default=repr)
    except ValueError:
        said = "a number that is too long"
    return Counted(Usage(), UsageDoubt.NOT_BELIEVED, said[:200])
