"""Reads models' replies, warily: what can't be read is a failure to read, never a verdict.

The rules are those of MODELS, section 2: the reason for stopping first; then a tool's input and every JSON
object that holds the key; a tagged line last. Two different verdicts in one reply are a conflict, and free
prose ("Yes, it matches") is not read at all. What a reply quotes, in a sentence or in code, is not what it says.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from pipeline.markup import SHELLS, Block, drop_thinking, find_blocks, find_objects, find_tags
from pipeline.types import Opinion, ReadingOutcome, Reply

MAX_SCRIPT_BYTES = 1_000_000
MAX_POINTS = 3

# "length" is what some servers put in the place of max_tokens.
_CUT = ("max_tokens", "length", "model_context_window_exceeded")


@dataclass(frozen=True)
class ScriptReading:
    outcome: ReadingOutcome
    script: str = ""
    note: str = ""


@dataclass(frozen=True)
class TextReading:
    outcome: ReadingOutcome
    text: str = ""


@dataclass(frozen=True)
class OpinionReading:
    outcome: ReadingOutcome
    opinion: Opinion = Opinion.UNKNOWN
    reason: str = ""
    differences: tuple[str, ...] = ()


@dataclass(frozen=True)
class PointsReading:
    outcome: ReadingOutcome
    points: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExplanationReading:
    outcome: ReadingOutcome
    no_error: bool = False
    points: tuple[str, ...] = ()
    cut: int = 0  # points that were given and are left out


def read_script(reply: Reply) -> ScriptReading:
    """The script of a reply, byte for byte, with a note where something about it was odd."""
    stopped = _stopped(reply)
    if stopped:
        return ScriptReading(stopped)
    text = drop_thinking(reply.text)
    found = find_objects(text, "script")
    values = [_said_by_tool(reply, "script"), *(one.value for one in found)]
    scripts = {
        value["script"]: None
        for value in values
        if value is not None and isinstance(value.get("script"), str)
    }
    if scripts:
        note = f"the longest of {len(scripts)} scripts" if len(scripts) > 1 else ""
        return _unwrapped(max((str(script) for script in scripts), key=len), note)
    if reply.tool_input and not text.strip():
        return ScriptReading(ReadingOutcome.UNPARSED, note="the tool's input holds no script")
    if not text.strip():
        return ScriptReading(ReadingOutcome.EMPTY)
    blocks = find_blocks(text, besides=found)
    if blocks:
        return _from_blocks(blocks)
    if text.lstrip().startswith("#!"):
        return _usable(text.lstrip(), "the whole reply")
    return ScriptReading(ReadingOutcome.UNPARSED, note="the reply holds no script")


def read_text(reply: Reply, key: str) -> TextReading:
    """A description: the key of a JSON object where there is one, else the reply's own words."""
    stopped = _stopped(reply)
    if stopped:
        return TextReading(stopped)
    text = drop_thinking(reply.text).strip()
    found = find_objects(text, key)
    for value in (_said_by_tool(reply, key), *(one.value for one in found)):
        words = _text_of(value.get(key)) if value else ""
        if words:
            return TextReading(ReadingOutcome.READ, words)
    # Some servers swallow the tag that opens the thinking, and leave the one that ends it.
    text = text.rpartition("</think>")[2].strip()
    if not (text or reply.tool_input):
        return TextReading(ReadingOutcome.EMPTY)
    if found or reply.tool_input or text.lstrip("`json \r\n").startswith("{"):
        return TextReading(ReadingOutcome.UNPARSED)
    return TextReading(ReadingOutcome.READ, text)


def read_opinion(reply: Reply) -> OpinionReading:
    """Match or mismatch, with reason and differences; anything else is not an opinion."""
    outcome, verdict, found = _verdict(reply, {"match", "mismatch"})
    if outcome is not ReadingOutcome.READ:
        return OpinionReading(outcome)
    return OpinionReading(
        outcome,
        Opinion(verdict),
        _text_of(found.get("reason")),
        _texts_of(found.get("differences")),
    )


def read_explanation(reply: Reply) -> ExplanationReading:
    """At most three points, or "no error". An error without a single point says nothing, and is not read."""
    outcome, verdict, found = _verdict(reply, {"error", "no_error"})
    if outcome is not ReadingOutcome.READ:
        return ExplanationReading(outcome)
    points = _points_of(found.get("points"))
    if verdict == "no_error":
        return ExplanationReading(outcome, no_error=True)
    if not points:
        return ExplanationReading(ReadingOutcome.UNPARSED)
    cut = max(0, len(points) - MAX_POINTS)
    return ExplanationReading(outcome, points=points[:MAX_POINTS], cut=cut)


def read_points(reply: Reply) -> PointsReading:
    """At most three points; a reply without a single one is not read."""
    stopped = _stopped(reply)
    if stopped:
        return PointsReading(stopped)
    found = [one.value for one in find_objects(drop_thinking(reply.text), "points")]
    said = [_said_by_tool(reply, "points"), *found]
    points = next((points for one in said if one and (points := _points_of(one["points"]))), ())
    if not points:
        return PointsReading(ReadingOutcome.UNPARSED)
    return PointsReading(ReadingOutcome.READ, points[:MAX_POINTS])


def _stopped(reply: Reply) -> ReadingOutcome | None:
    if reply.stop_reason == "refusal" or reply.refusal:
        return ReadingOutcome.REFUSED
    if reply.stop_reason in _CUT:
        return ReadingOutcome.TRUNCATED
    if not reply.text.strip() and reply.tool_input is None:
        return ReadingOutcome.EMPTY
    return None


def _verdict(reply: Reply, legal: set[str]) -> tuple[ReadingOutcome, str, dict[str, object]]:
    """The one verdict that is said; what is only quoted can contradict it, and never stands for it."""
    stopped = _stopped(reply)
    if stopped:
        return stopped, "", {}
    text = drop_thinking(reply.text)
    found = find_objects(text, "verdict")
    by_tool = _said_by_tool(reply, "verdict")
    said = [by_tool] if by_tool else []
    said += [one.value or {} for one in found if one.is_said]
    tags = find_tags(text)
    everything = [*said, *(one.value or {} for one in found)]
    verdicts = {_normal(value.get("verdict")) for value in everything}
    verdicts |= {_normal(word) for word in tags}
    if not (said or tags) or not verdicts <= legal:
        return ReadingOutcome.UNPARSED, "", {}
    if len(verdicts) > 1:
        return ReadingOutcome.CONFLICT, "", {}
    return ReadingOutcome.READ, verdicts.pop(), said[-1] if said else {}


def _said_by_tool(reply: Reply, key: str) -> dict[str, object] | None:
    """The tool's input where it holds the key; read as the JSON object that it is."""
    if reply.tool_input is None:
        return None
    found = find_objects(json.dumps(reply.tool_input), key)
    return found[0].value if found else None


def _normal(value: object) -> str:
    if not isinstance(value, str):
        return ""
    return value.strip().lower().replace("-", "_").replace(" ", "_")


def _text_of(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _texts_of(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(text for text in (_text_of(item) for item in value) if text)


def _points_of(value: object) -> tuple[str, ...]:
    """A list of points, or one string with a point in each line."""
    lines = value.splitlines() if isinstance(value, str) else value
    return _texts_of(lines)


def _from_blocks(blocks: list[Block]) -> ScriptReading:
    if not blocks[-1].is_closed:
        return ScriptReading(
            ReadingOutcome.UNPARSED, note="the reply opens a code block and never closes it"
        )
    shells = [block for block in blocks if block.language in SHELLS]
    candidates = shells or [block for block in blocks if not block.language]
    if not candidates:
        return ScriptReading(ReadingOutcome.UNPARSED, note="the reply holds no script")
    best = max(candidates, key=lambda block: len(block.content))
    if best.is_cut:
        return ScriptReading(
            ReadingOutcome.UNPARSED, note="the code block ends inside a here-document"
        )
    notes = []
    if len(candidates) > 1:
        notes.append(f"the longest of {len(candidates)} code blocks")
    elif len(blocks) > 1:
        notes.append(f"one of {len(blocks)} code blocks")
    if best.is_nested:
        notes.append("a here-document in it holds a code fence")
    if best.indent:
        notes.append(f"{best.indent} blanks taken off each line, as its code block was indented")
    return _usable(best.content, "; ".join(notes))


def _unwrapped(script: str, note: str) -> ScriptReading:
    """The script of a JSON string; out of its fence where the model put one into the string."""
    blocks = find_blocks(script)
    if len(blocks) == 1 and blocks[0].is_closed and not blocks[0].is_cut:
        block = blocks[0]
        if not (script[: block.start] + script[block.end :]).strip():
            return _usable(block.content, "; ".join(filter(None, [note, "out of its code fence"])))
    if script.startswith("#!") and "\n" not in script and "\\n" in script:
        note = "; ".join(filter(None, [note, "its line ends are written as \\n"]))
    return _usable(script, note)


def _usable(script: str, note: str = "") -> ScriptReading:
    if not script.strip():
        return ScriptReading(ReadingOutcome.EMPTY)
    if "\0" in script:
        return ScriptReading(ReadingOutcome.UNPARSED, note="the script holds a NUL byte")
    try:
        size = len(script.encode())
    except UnicodeEncodeError:
        return ScriptReading(ReadingOutcome.UNPARSED, note="the script holds half of a character")
    if size > MAX_SCRIPT_BYTES:
        return ScriptReading(ReadingOutcome.UNPARSED, note="the script is larger than 1 MB")
    return ScriptReading(ReadingOutcome.READ, script, note)
