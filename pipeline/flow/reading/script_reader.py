"""Reads scripts from replies, byte for byte, with a note if something about them was odd.

From a JSON string, from the code block that the reply presents as its script (`choosing`), or from a reply that
begins like a script. Prose, JSON, and comments without a command are not scripts, whatever surrounds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import shorten

from pipeline.flow.reading.choosing import SHEBANG, choose, is_correction, strip_prompts
from pipeline.flow.reading.markup import (
    CONSOLES,
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
_PLAIN = ("", "text", "txt", "plaintext", "plain", "code", "script")
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
    by_tool = said_by_tool(reply, "script")
    strings = {
        script: Block(one.start, one.end, "json", script)
        for one in found
        if one.value and isinstance(script := one.value.get("script"), str)
    }
    if by_tool and isinstance(script := by_tool.get("script"), str):
        strings = (
            {script: Block(0, 0, "json", script)} if script.strip() or not strings else strings
        )
    real = [block for script, block in strings.items() if not is_placeholder_script(script)]
    if strings and not real:
        return _unparsed(ECHO)
    blocks = find_blocks(text, besides=found)
    in_block = not by_tool and any(SHEBANG.match(block.content) for block in blocks)
    if real and (not in_block or any(SHEBANG.match(block.content) for block in real)):
        real = [block for block in real if block.content.strip()] or real
        chosen, note = choose(text, real, real)
        note = note.replace("code blocks", "scripts")
        return _unwrapped(chosen.content, note) if chosen else _unparsed(note)
    if reply.tool_input and not text.strip():
        return _unparsed("the tool's input holds no script")
    if not text.strip():
        return ScriptReading(ReadingOutcome.EMPTY)
    # Some models end a block that they, or their template, never opened.
    if len(blocks) == 1 and not blocks[0].language and _begins_like_a_script(text):
        before, after = text[: blocks[0].start], text[blocks[0].start :]
        if not blocks[0].is_closed and before.strip():
            told = " and the words after it" if after.strip("`~ \n") else ""
            return _usable(before.lstrip(), f"without a code fence{told} at its end")
    if blocks:
        return _from_blocks(text, blocks)
    if _begins_like_a_script(text):
        return _usable(text.lstrip(), "the whole reply")
    return _unparsed("the reply holds no script")


def _begins_like_a_script(text: str) -> bool:
    """Whether a reply begins with `#!`, or with nothing but comments before it."""
    for line in text.lstrip().split("\n"):
        if line.startswith("#!"):
            return True
        if line.strip() and not line.startswith("#"):
            return False
    return False


def _unparsed(note: str) -> ScriptReading:
    return ScriptReading(ReadingOutcome.UNPARSED, note=note)


def _from_blocks(text: str, blocks: list[Block]) -> ScriptReading:
    *closed, last = blocks
    if not last.is_closed:
        # What is missing may be the end of a call of the script, or of a better script.
        if (
            not any(SHEBANG.match(block.content) for block in closed)
            or last.content.lstrip().startswith("#!")
            or is_correction(text[closed[-1].end : last.start])
        ):
            return _unparsed("the reply opens a code block and never closes it")
        blocks = closed
    blocks = [block for block in blocks if not holds_json(block.content)]
    readable = [block for block in blocks if block.language in (*SHELLS, *_PLAIN)]
    candidates = (
        [block for block in readable if SHEBANG.match(block.content)]
        or [block for block in blocks if block.language in SHELLS]
        or [block for block in blocks if not block.language]
    )
    if not candidates:
        return _unparsed("the reply holds no script")
    best, note = choose(text, blocks, candidates)
    if best is None:
        return _unparsed(note)
    if best.is_cut:
        return _unparsed("the code block ends inside a here-document")
    notes = [note] if note else []
    if best.is_nested:
        notes.append("a here-document in it holds a code fence")
    script = best.content
    first, _newline, rest = script.lstrip("\n").partition("\n")
    if not best.language and first.strip() in SHELLS and rest.lstrip().startswith("#"):
        script = rest.lstrip()
        notes.append("its language stood on a line of its own")
    if best.indent:
        notes.append(f"{best.indent} blanks taken off each line, as its code block was indented")
    return _usable(script, "; ".join(notes), is_console=best.language in CONSOLES)


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


def _usable(script: str, note: str = "", *, is_console: bool = False) -> ScriptReading:
    if not script.strip():
        return ScriptReading(ReadingOutcome.EMPTY)
    if "\0" in script:
        return _unparsed("the script holds a NUL byte")
    try:
        size = len(script.encode())
    except UnicodeEncodeError:
        return _unparsed("the script holds half of a character")
    if size > MAX_SCRIPT_BYTES:
        return _unparsed("the script is larger than 1 MB")
    commands = strip_prompts(script, is_console=is_console)
    if commands is None:
        return _unparsed("only some lines of the console transcript have a prompt")
    if commands != script:
        script, note = commands, "; ".join(filter(None, [note, "its prompts taken off"]))
    if "\n" in script and _is_only_comments(script):
        return _unparsed("the script is nothing but comments")
    return ScriptReading(ReadingOutcome.READ, script, note)
