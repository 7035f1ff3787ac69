"""Reads scripts from replies, byte for byte except for unusual blanks, with a note if something was odd.

From a JSON string, from the code block that the reply presents as its script (`choosing`), or from a reply that
begins like a script. Prose, JSON, and comments without a command are not scripts, whatever surrounds them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import unescape
from itertools import pairwise
from textwrap import shorten

from catalog.analysis.shell.parsing import shared_time
from pipeline.flow.reading.choosing import choose, is_correction
from pipeline.flow.reading.loose import (
    SHEBANG,
    before_prose,
    is_command,
    is_only_comments,
    lone_command,
    with_loose_scripts,
)
from pipeline.flow.reading.markup import (
    CONSOLES,
    PLAIN,
    SHELLS,
    STRING,
    Block,
    as_markdown,
    drop_thinking,
    find_blocks,
    find_objects,
    find_strings,
    holds_json,
    with_plain_blanks,
)
from pipeline.flow.reading.phrases import consists_of, is_placeholder_script, pattern
from pipeline.flow.reading.replies import ECHO, said_by_tool, stopped
from pipeline.flow.reading.transcripts import is_cut_short, strip_line_numbers, strip_prompts
from pipeline.types import ReadingOutcome, Reply

MAX_SCRIPT_BYTES = 1_000_000
_LONGEST = 100_000  # characters of a script with prose after it
_LONGEST_REFUSAL = 400  # characters
_ENTITIES = re.compile(r"&amp;&amp;| \d?&[lg]t;")
_NO_ENTITY = re.compile(r"[<>]|&(?!(?:amp|[lg]t|quot|#\w{1,5});)")
_COMMENTS = re.compile(r"(?:\s*+#(?!!).*+\n)*+\s*+")


@dataclass(frozen=True)
class ScriptReading:
    outcome: ReadingOutcome
    script: str = ""
    note: str = ""


@shared_time()
def read_script(reply: Reply) -> ScriptReading:
    """The script of a reply, byte for byte except for unusual blanks, with a note if it was odd."""
    why = stopped(reply)
    if why:
        said = " ".join(reply.text.split()) if why is ReadingOutcome.REFUSED else ""
        return ScriptReading(why, note=shorten(said, _LONGEST_REFUSAL, placeholder=" ..."))
    text = as_markdown(drop_thinking(with_plain_blanks(reply.text)))
    found = find_objects(text, "script")
    values = [(one.start, one.end, one.value or {}) for one in found]
    by_tool = said_by_tool(reply, "script")
    if by_tool and (isinstance(by_tool["script"], str) or not values):
        text, found, values = "", [], [(0, 0, by_tool)]
    strings = [
        Block(start, end, STRING, script)
        for start, end, value in values
        if isinstance(script := value.get("script"), str)
    ]
    real = [block for block in strings if not is_placeholder_script(block.content)]
    if strings and not real:
        return _unparsed(ECHO)
    fenced = find_blocks(text, besides=found)
    blocks = [*real, *fenced] if real else with_loose_scripts(text, fenced)
    inside = {string for string in find_strings(text) if SHEBANG.match(string)}
    if len(inside) == 1 and not any(SHEBANG.match(block.content) for block in blocks):
        return _usable(inside.pop(), "in an object under another key")
    if blocks:
        return _from_blocks(text, sorted(blocks, key=lambda block: block.start), fenced)
    if command := lone_command(text):
        return _usable(command, "without a whole code fence")
    if not (text.strip() or reply.tool_input):
        return ScriptReading(ReadingOutcome.EMPTY)
    return _unparsed("the reply holds no script")


def _unparsed(note: str) -> ScriptReading:
    return ScriptReading(ReadingOutcome.UNPARSED, note=note)


def _from_blocks(text: str, blocks: list[Block], fenced: list[Block]) -> ScriptReading:
    blocks = [_plain(block) for block in blocks if not holds_json(block.content)]
    is_script = any(
        block.is_closed and (block.language == STRING or SHEBANG.match(block.content))
        for block in blocks
    )
    for before, block in pairwise([Block(0, 0, "", ""), *blocks]):
        # What is missing may be the end of a call of the script, or of a better script.
        script = block.content.strip()
        is_better = script.startswith("#!") or is_correction(text[before.end : block.start])
        if not (block.is_closed or (is_script and (not is_better or script in before.content))):
            return _unparsed("the reply opens a code block and never closes it")
    blocks = [block for block in blocks if block.is_closed]
    readable = [
        block
        for block in blocks
        if block.language in (STRING, *SHELLS, *PLAIN)
        and not pattern("foreign").match(_COMMENTS.sub("", block.content, count=1))
    ]
    candidates = (
        [block for block in readable if SHEBANG.match(block.content)]
        or [block for block in readable if block.language == STRING]
        or [block for block in readable if block.language in SHELLS]
        or [block for block in readable if block.language in PLAIN[:2]]
        or [block for block in readable if is_command(block.content)]
    )
    if not candidates:
        return _unparsed("the reply holds no script")
    best, note = choose(text, blocks, candidates)
    if best is None:
        return _unparsed(note)
    notes = [note] if note else []
    if best.language == STRING:
        return _unwrapped(best.content, notes)
    if len(blocks) > 1 and consists_of(best.content, "comment", "runs"):
        return _unparsed("the code block with commands only runs a script in another one")
    is_loose = all(block.start != best.start for block in fenced)
    if is_loose and any(block.language not in (*SHELLS, *PLAIN) for block in fenced):
        return _unparsed("it is written half in a code block of another language")
    if is_loose and (best.start, best.end) == (0, len(text)):
        notes.append("the whole reply")
    elif is_loose or all(best.end != block.end or not block.is_closed for block in fenced):
        notes.append("without a whole code fence")
    if best.is_nested:
        notes.append("a here-document in it holds a code fence")
    script = (len(best.content) < _LONGEST and before_prose(best.content)[0]) or best.content
    if is_cut_short(script):
        return _unparsed("the script ends inside a command, a string or a here-document")
    first, _newline, rest = script.lstrip("\n").partition("\n")
    if not best.language and first.strip() in SHELLS and rest.lstrip().startswith("#"):
        script = rest.lstrip()
        notes.append("its language stood on a line of its own")
    if best.indent:
        notes.append(f"{best.indent} blanks taken off each line, as its code block was indented")
    is_console = best.language in CONSOLES and not SHEBANG.match(script)
    return _usable(script, *notes, is_console=is_console)


def _plain(block: Block) -> Block:
    """The block without line numbers, and without the entities of HTML if nothing contradicts them."""
    content = block.content
    if block.language == STRING:
        return block
    if _ENTITIES.search(content) and not _NO_ENTITY.search(content):
        content = unescape(content)
    content = strip_line_numbers(content) or content
    return replace(block, content=content)


def _unwrapped(script: str, notes: list[str]) -> ScriptReading:
    """The script in a JSON string, without a code fence that the model put inside the string."""
    for block in find_blocks(script)[:1]:
        if block.is_closed and not (script[: block.start] + script[block.end :]).strip():
            return _usable(block.content, *notes, "out of its code fence")
    if script.startswith("#!") and "\n" not in script and "\\n" in script:
        notes = [*notes, "its line ends are written as \\n"]
    return _usable(script, *notes)


def _usable(script: str, *notes: str, is_console: bool = False) -> ScriptReading:
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
    if strip_line_numbers(script) is None:
        return _unparsed("only some lines of the script have a number")
    commands = strip_prompts(script, is_console=is_console)
    if commands is None:
        return _unparsed("only some lines of the console transcript have a prompt")
    if commands != script:
        script, notes = commands, (*notes, "its prompts taken off")
    if "\n" in script and is_only_comments(script):
        return _unparsed("the script is nothing but comments")
    return ScriptReading(ReadingOutcome.READ, script, "; ".join(notes))
