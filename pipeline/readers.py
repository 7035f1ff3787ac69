"""Reads models' replies, warily: what can't be read is a failure to read, never a verdict.

The rules are those of MODELS, section 2: the reason for stopping first; then a tool's input; then every
balanced JSON object that holds the key; a tagged line last. Two different verdicts in one reply are a
conflict, and free prose ("Yes, it matches") is not read at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from pipeline.types import Opinion, ReadingOutcome, Reply

MAX_SCRIPT_BYTES = 1_000_000
MAX_POINTS = 3

_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(
    r"^(?P<indent>[ \t]*)(?P<mark>`{3,}|~{3,})[ \t]*(?P<language>[\w+.-]*)[^\n`]*\r?$", re.MULTILINE
)
_TAG = re.compile(r"^\W*(?:final\s+)?verdict\W*[:=]\W*(\w+)\W*$", re.IGNORECASE | re.MULTILINE)
_SHELLS = ("bash", "sh", "shell", "zsh", "console", "shell-script")


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
class ExplanationReading:
    outcome: ReadingOutcome
    no_error: bool = False
    points: tuple[str, ...] = ()


def read_script(reply: Reply) -> ScriptReading:
    """The script of a reply, byte for byte, with a note where something about it was odd."""
    stopped = _stopped(reply)
    if stopped:
        return ScriptReading(stopped)
    for found in _objects(reply, "script"):
        if isinstance(found["script"], str):
            return _usable(found["script"])
    text = _THINKING.sub("", reply.text)
    if not text.strip():
        return ScriptReading(ReadingOutcome.EMPTY)
    blocks, unclosed = _fenced_blocks(text)
    if unclosed:
        return ScriptReading(
            ReadingOutcome.UNPARSED, note="the reply opens a code block and never closes it"
        )
    shells = [block for language, block in blocks if language in _SHELLS]
    candidates = shells or [block for language, block in blocks if not language]
    if candidates:
        note = f"the longest of {len(candidates)} code blocks" if len(candidates) > 1 else ""
        return _usable(max(candidates, key=len), note)
    if text.lstrip().startswith("#!") and not blocks:
        return _usable(text.lstrip(), "the whole reply")
    return ScriptReading(ReadingOutcome.UNPARSED, note="the reply holds no script")


def read_text(reply: Reply, key: str) -> TextReading:
    """A description: the key of a JSON object where there is one, else the reply's own words."""
    stopped = _stopped(reply)
    if stopped:
        return TextReading(stopped)
    for found in _objects(reply, key):
        value = found[key]
        if isinstance(value, str) and value.strip():
            return TextReading(ReadingOutcome.READ, value.strip())
    text = _THINKING.sub("", reply.text).strip()
    if not text or reply.tool_input is not None:
        return TextReading(ReadingOutcome.EMPTY)
    if text.startswith("{"):
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
    points = _texts_of(found.get("points"))[:MAX_POINTS]
    if verdict == "no_error":
        return ExplanationReading(outcome, no_error=True)
    if not points:
        return ExplanationReading(ReadingOutcome.UNPARSED)
    return ExplanationReading(outcome, points=points)


def _stopped(reply: Reply) -> ReadingOutcome | None:
    if reply.stop_reason == "refusal" or reply.refusal:
        return ReadingOutcome.REFUSED
    if reply.stop_reason in ("max_tokens", "model_context_window_exceeded"):
        return ReadingOutcome.TRUNCATED
    if not reply.text.strip() and reply.tool_input is None:
        return ReadingOutcome.EMPTY
    return None


def _verdict(reply: Reply, legal: set[str]) -> tuple[ReadingOutcome, str, dict[str, object]]:
    stopped = _stopped(reply)
    if stopped:
        return stopped, "", {}
    found = list(_objects(reply, "verdict"))
    if found:
        spoken = [_normal(item["verdict"]) for item in found]
        details = found[-1]
    else:
        spoken = [_normal(word) for word in _TAG.findall(_THINKING.sub("", reply.text))]
        details = {}
    if not spoken or not set(spoken) <= legal:
        return ReadingOutcome.UNPARSED, "", {}
    if len(set(spoken)) > 1:
        return ReadingOutcome.CONFLICT, "", {}
    return ReadingOutcome.READ, spoken[-1], details


def _normal(value: object) -> str:
    return (
        str(value).strip().lower().replace("-", "_").replace(" ", "_")
        if isinstance(value, str)
        else ""
    )


def _text_of(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _texts_of(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    return tuple(text for text in (_text_of(item) for item in value) if text)


def _objects(reply: Reply, key: str) -> Iterator[dict[str, object]]:
    """Every JSON object of the reply that holds the key, in order: a tool's input, or those in the text."""
    if reply.tool_input is not None:
        if key in reply.tool_input:
            yield reply.tool_input
        return
    decoder = json.JSONDecoder(strict=False)
    text = _THINKING.sub("", reply.text)
    position = text.find("{")
    tries = 0
    while position >= 0 and tries < 1000:  # a reply of nothing but braces must not take for ever
        tries += 1
        try:
            value, end = decoder.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError):
            end = position + 1
        else:
            if isinstance(value, dict) and key in value:
                yield value
        position = text.find("{", end)


def _fenced_blocks(text: str) -> tuple[list[tuple[str, str]], bool]:
    """The fenced blocks as (language, exact content), and whether one was left open."""
    blocks: list[tuple[str, str]] = []
    opened: re.Match[str] | None = None
    for match in _FENCE.finditer(text):
        if opened is None:
            opened = match
            continue
        same_kind = match["mark"][0] == opened["mark"][0] and len(match["mark"]) >= len(
            opened["mark"]
        )
        if same_kind and not match["language"]:
            blocks.append((opened["language"].lower(), text[opened.end() + 1 : match.start()]))
            opened = None
    return blocks, opened is not None


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
