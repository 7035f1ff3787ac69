"""Reads scripts from replies, byte for byte, with a note if something about them was odd.

From a JSON string, from one code block for the shell, or from a reply that begins like a script. Prose, JSON, and
comments without a command are not scripts, whatever surrounds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import shorten

from pipeline.flow.reading.markup import (
    SHELLS,
    Block,
    drop_thinking,
    find_blocks,
    find_objects,
    holds_json,
)
from pipeline.flow.reading.placeholders import is_placeholder_script
from pipeline.flow.reading.replies import ECHO, said_by_tool, stopped
from pipeline.types import ReadingOutcome, Reply

MAX_SCRIPT_BYTES = 1_000_000
_LONGEST_REFUSAL = 400  # characters


@dataclass(frozen=True)
class ScriptReading:
    outcome: ReadingOutcome
    script: str = ""
    note: str = ""


def read_script(reply: Reply) -> ScriptReading:
    """The script of a reply, byte for byte, with a note if something about it was odd."""
    why = stopped(reply)
    if why:
        said = " ".join(reply.text.split()) if why is ReadingOutcome.REFUSED else ""
        return ScriptReading(why, note=shorten(said, _LONGEST_REFUSAL, placeholder=" ..."))
    text = drop_thinking(reply.text)
    found = find_objects(text, "script")
    values = [said_by_tool(reply, "script"), *(one.value for one in found)]
    scripts = {
        value["script"]: None
        for value in values
        if value is not None and isinstance(value.get("script"), str)
    }
    real = [script for script in scripts if not is_placeholder_script(str(script))]
    if scripts and not real:
        return ScriptReading(ReadingOutcome.UNPARSED, note=ECHO)
    scripts = dict.fromkeys(real)
    if scripts:
        note = f"the longest of {len(scripts)} scripts" if len(scripts) > 1 else ""
        return _unwrapped(max((str(script) for script in scripts), key=len), note)
    if reply.tool_input and not text.strip():
        return ScriptReading(ReadingOutcome.UNPARSED, note="the tool's input holds no script")
    if not text.strip():
        return ScriptReading(ReadingOutcome.EMPTY)
    blocks = find_blocks(text, besides=found)
    # Some models end a block that they, or their template, never opened.
    if len(blocks) == 1 and not blocks[0].language and _begins_like_a_script(text):
        before, after = text[: blocks[0].start], text[blocks[0].start :]
        if not blocks[0].is_closed and before.strip():
            told = " and the words after it" if after.strip("`~ \n") else ""
            return _usable(before.lstrip(), f"without a code fence{told} at its end")
    if blocks:
        return _from_blocks(blocks)
    if _begins_like_a_script(text):
        return _usable(text.lstrip(), "the whole reply")
    return ScriptReading(ReadingOutcome.UNPARSED, note="the reply holds no script")


def _begins_like_a_script(text: str) -> bool:
    """Whether a reply begins with `#!`, or with nothing but comments before it."""
    for line in text.lstrip().split("\n"):
        if line.startswith("#!"):
            return True
        if line.strip() and not line.startswith("#"):
            return False
    return False


def _from_blocks(blocks: list[Block]) -> ScriptReading:
    if not blocks[-1].is_closed:
        return ScriptReading(
            ReadingOutcome.UNPARSED, note="the reply opens a code block and never closes it"
        )
    blocks = [block for block in blocks if not holds_json(block.content)]
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
    script = best.content
    first, _newline, rest = script.lstrip("\n").partition("\n")
    if not best.language and first.strip() in SHELLS and rest.lstrip().startswith("#"):
        script = rest.lstrip()
        notes.append("its language stood on a line of its own")
    if best.indent:
        notes.append(f"{best.indent} blanks taken off each line, as its code block was indented")
    return _usable(script, "; ".join(notes))


def _unwrapped(script: str, note: str) -> ScriptReading:
    """The script in a JSON string, without a code fence that the model put inside the string."""
    blocks = find_blocks(script)
    if len(blocks) == 1 and blocks[0].is_closed and not blocks[0].is_cut:
        block = blocks[0]
        if not (script[: block.start] + script[block.end :]).strip():
            return _usable(block.content, "; ".join(filter(None, [note, "out of its code fence"])))
    if script.startswith("#!") and "\n" not in script and "\\n" in script:
        note = "; ".join(filter(None, [note, "its line ends are written as \\n"]))
    return _usable(script, note)


def _is_only_comments(script: str) -> bool:
    return all(not line.strip() or line.lstrip().startswith("#") for line in script.split("\n"))


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
    if "\n" in script and _is_only_comments(script):
        return ScriptReading(ReadingOutcome.UNPARSED, note="the script is nothing but comments")
    return ScriptReading(ReadingOutcome.READ, script, note)
