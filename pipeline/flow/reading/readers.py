"""Read model replies strictly. An unreadable reply is reported as such and never counts as a verdict.

Readers check the stop reason, then the tool input and every JSON object that contains the key, then tagged lines. Two
different verdicts in one reply are a conflict. Free prose ("Yes, it matches") is not read. A broken object that begins
with an unambiguous verdict counts. Quotations in a sentence or in code are not the reply's own answer, and neither is a
repeated answer form (`"reason": "one sentence"`). `note` briefly describes odd or missing parts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from pipeline.flow.reading.markup import (
    SHELLS,
    drop_thinking,
    find_blocks,
    find_objects,
    find_tags,
    with_legal_escapes,
)
from pipeline.flow.reading.phrases import is_placeholder, pattern
from pipeline.flow.reading.replies import ECHO, said_by_tool, stopped
from pipeline.types import Opinion, ReadingOutcome, Reply, distinct

MAX_POINTS = 3
_FEWEST_WORDS = 4  # for a reason in a broken object; fewer words may repeat the form
_KEY = re.compile(r"[\"']?(\w+)[\"']?\s*:")
_VERDICT = re.compile(r'\{\s*"verdict"\s*:\s*"(match|mismatch)"\s*[,}]', re.IGNORECASE)


@dataclass(frozen=True)
class TextReading:
    outcome: ReadingOutcome
    text: str = ""
    note: str = ""


@dataclass(frozen=True)
class OpinionReading:
    outcome: ReadingOutcome
    opinion: Opinion = Opinion.UNKNOWN
    reason: str = ""
    differences: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class PointsReading:
    outcome: ReadingOutcome
    points: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class ExplanationReading:
    outcome: ReadingOutcome
    no_error: bool = False
    points: tuple[str, ...] = ()
    cut: int = 0  # number of points beyond the first MAX_POINTS
    note: str = ""


def read_text(reply: Reply, key: str) -> TextReading:
    """Return a description: the key's value in a JSON object if present, otherwise the reply's text."""
    why = stopped(reply)
    if why:
        return TextReading(why)
    text = with_legal_escapes(drop_thinking(reply.text).strip(), key)
    found = find_objects(text, key)
    for value in (said_by_tool(reply, key), *(one.value for one in found)):
        words = _text_of(value.get(key)) if value else ""
        if words and not is_placeholder(words):
            return TextReading(ReadingOutcome.READ, words)
        if words:
            return TextReading(ReadingOutcome.UNPARSED, note=ECHO)
    if not (text or reply.tool_input):
        return TextReading(ReadingOutcome.EMPTY)
    if found or reply.tool_input or text.lstrip("`json \r\n").startswith("{"):
        return TextReading(ReadingOutcome.UNPARSED, note=f"no “{key}” could be read from it")
    if is_placeholder(text):
        return TextReading(ReadingOutcome.UNPARSED, note=ECHO)
    if _is_only_code(text):
        return TextReading(ReadingOutcome.UNPARSED, note="it contains code but no description")
    return TextReading(ReadingOutcome.READ, text)


def _is_only_code(text: str) -> bool:
    """Return whether a reply that should describe a script is itself a script."""
    if text.startswith("#!"):
        return True
    blocks = find_blocks(text)
    if len(blocks) != 1 or (text[: blocks[0].start] + text[blocks[0].end :]).strip():
        return False
    return blocks[0].language in SHELLS or blocks[0].content.lstrip().startswith("#")


def read_opinion(reply: Reply) -> OpinionReading:
    """Return a match or mismatch, with its reason and differences. Other replies are unreadable."""
    said = _verdict(reply, {"match", "mismatch"})
    if said.outcome is not ReadingOutcome.READ:
        return OpinionReading(said.outcome, note=said.note)
    reason, found = _text_of(said.fields.get("reason")), _texts_of(said.fields.get("differences"))
    return OpinionReading(said.outcome, Opinion(said.verdict), reason, found)


def read_explanation(reply: Reply) -> ExplanationReading:
    """Return up to MAX_POINTS points, or "no error". A reply with an error but no point is unreadable."""
    said = _verdict(reply, {"error", "no_error"})
    if said.outcome is not ReadingOutcome.READ:
        return ExplanationReading(said.outcome, note=said.note)
    points = _points_of(said.fields.get("points"))
    if said.verdict == "no_error":
        return ExplanationReading(said.outcome, no_error=True)
    if not points:
        missing = "it reports an error without any point"
        return ExplanationReading(ReadingOutcome.UNPARSED, note=missing)
    cut = max(0, len(points) - MAX_POINTS)
    return ExplanationReading(said.outcome, points=points[:MAX_POINTS], cut=cut)


def read_points(reply: Reply) -> PointsReading:
    """Return up to MAX_POINTS points. A reply without a point is unreadable."""
    why = stopped(reply)
    if why:
        return PointsReading(why)
    text = with_legal_escapes(drop_thinking(reply.text), "points")
    found = [one.value for one in find_objects(text, "points")]
    said = [said_by_tool(reply, "points"), *found]
    points = next((points for one in said if one and (points := _points_of(one["points"]))), ())
    if not points:
        return PointsReading(ReadingOutcome.UNPARSED, note="it contains no points")
    return PointsReading(ReadingOutcome.READ, points[:MAX_POINTS])


class _Said(NamedTuple):
    outcome: ReadingOutcome
    verdict: str = ""
    fields: Mapping[str, object] = MappingProxyType({})
    note: str = ""


def _verdict(reply: Reply, legal: set[str]) -> _Said:
    """Return the only stated verdict. A quoted verdict can contradict it but never replace it."""
    why = stopped(reply)
    if why is ReadingOutcome.TRUNCATED and (begun := _begun(reply.text.lstrip("`json \r\n"))):
        # A small model that repeats itself after its verdict would do so again.
        return _Said(ReadingOutcome.READ, str(begun["verdict"]), begun)
    if why:
        return _Said(why)
    text = with_legal_escapes(drop_thinking(reply.text), "verdict")
    found = find_objects(text, "verdict")
    by_tool = said_by_tool(reply, "verdict")
    said = [by_tool] if by_tool else []
    values = [one.value or _begun(text[one.start : one.end]) for one in found]
    said += [value for one, value in zip(found, values, strict=True) if one.is_said]
    everything = [*said, *values]
    answers = [value for value in everything if not _is_echo(value)]
    if everything and not answers:
        return _Said(ReadingOutcome.UNPARSED, note=ECHO)
    said = [value for value in said if not _is_echo(value)]
    bare = text.strip(" \n`*.\"'")
    tags = [bare] if _normal(bare) in legal else find_tags(text)
    verdicts = {_normal(value.get("verdict")) for value in answers}
    verdicts |= {_normal(word) for word in tags}
    if not (said or tags):
        missing = "it contains no JSON object" + " with a verdict" * ("{" in text)
        return _Said(ReadingOutcome.UNPARSED, note=missing)
    if not verdicts <= legal:
        wanted = " or ".join(sorted(legal))
        return _Said(ReadingOutcome.UNPARSED, note=f"its verdict is not {wanted}")
    if len(verdicts) > 1:
        return _Said(ReadingOutcome.CONFLICT)
    return _Said(ReadingOutcome.READ, verdicts.pop(), said[-1] if said else {})


def _begun(text: str) -> dict[str, object]:
    """Return the verdict at the start of a broken object, if it is the only verdict and has a genuine reason."""
    begun = _VERDICT.match(text)
    keys = [key.lower() for key in _KEY.findall(text)]
    own = pattern("form").sub("", _KEY.sub("", text[begun.end() :])) if begun else ""
    is_answer = begun and keys.count("verdict") == 1 and len(own.split()) >= _FEWEST_WORDS
    return {"verdict": begun[1]} if begun and is_answer else {}


def _is_echo(value: Mapping[str, object]) -> bool:
    """Return whether an object only repeats the answer form, with placeholders instead of the model's own text."""
    keys = ("reason", "differences", "points")
    texts = [text for key in keys for text in _as_list(value.get(key))]
    words = [text for text in texts if isinstance(text, str) and text]
    return bool(words) and all(is_placeholder(text) for text in words)


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _normal(value: object) -> str:
    return _text_of(value).lower().replace("-", "_").replace(" ", "_")


def _text_of(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _texts_of(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    texts = distinct(_text_of(item) for item in value)
    return tuple(text for text in texts if text and not is_placeholder(text))


def _points_of(value: object) -> tuple[str, ...]:
    """Return the points in a list, or in a string with one point per line."""
    lines = value.splitlines() if isinstance(value, str) else value
    return _texts_of(lines)
