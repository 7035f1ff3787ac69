"""Read scripts from replies, byte for byte except for unusual whitespace, with a note if a reply was unusual.

The script is in a JSON string, in the code block that the reply presents as its script (`choosing`), or outside code
blocks (`loose`). Prose, JSON, and comments without a command are never scripts.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from html import unescape
from itertools import pairwise
from textwrap import shorten

from catalog.analysis.shell.parsing import shared_time
from pipeline.flow.prompts import holds_mark, holds_mark_word
from pipeline.flow.reading import loose, markup
from pipeline.flow.reading.choosing import choose, is_correction
from pipeline.flow.reading.loose import SHEBANG, is_plainly_bash
from pipeline.flow.reading.markup import PLAIN, SHELLS, STRING, Block
from pipeline.flow.reading.phrases import consists_of, is_placeholder_script, pattern
from pipeline.flow.reading.replies import ECHO, said_by_tool, stopped
from pipeline.flow.reading.transcripts import (
    HEREDOC,
    is_complete,
    is_cut_short,
    strip_line_numbers,
    strip_prompts,
)
from pipeline.types import ReadingOutcome, Reply

_MARKED = "it repeats a mark of the prompt"
MAX_SCRIPT_BYTES = 1_000_000
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
    """Return the reply's script, byte for byte except for unusual whitespace, with a note if the reply was unusual."""
    why = stopped(reply)
    if why:
        said = " ".join(reply.text.split()) if why is ReadingOutcome.REFUSED else ""
        return ScriptReading(why, note=shorten(said, _LONGEST_REFUSAL, placeholder=" ..."))
    text = markup.as_markdown(markup.drop_thinking(markup.with_plain_blanks(reply.text)))
    if holds_mark(text):
        return _unparsed(_MARKED)
    found = markup.find_objects(text, "script")
    strings = [
        Block(one.start, one.end, STRING, script)
        for one in found
        if isinstance(script := (one.value or {}).get("script"), str)
    ]
    by_tool = said_by_tool(reply, "script") or {}
    if isinstance(script := by_tool.get("script"), str):
        text, found, strings = "", [], [Block(0, 0, STRING, script)]
    real = [block for block in strings if not is_placeholder_script(block.content)]
    if strings and not real:
        return _unparsed(ECHO)
    fenced = markup.find_blocks(text, besides=found)
    blocks = [*real, *fenced] if real else loose.with_loose_scripts(text, fenced)
    texts = markup.find_strings(text)
    inside = {string for string in texts if SHEBANG.match(string)}
    if not inside and all(markup.holds_json(block.content) for block in blocks):
        inside = {one for one in texts if any(b.is_closed for b in markup.find_blocks(one))}
    if len(inside) == 1 and not any(SHEBANG.match(block.content) for block in blocks):
        return _unwrapped(inside.pop(), "in an object under another key")
    if blocks:
        return _from_blocks(text, sorted(blocks, key=lambda block: block.start), fenced)
    if command := loose.lone_command(text):
        return _usable(command, "without a whole code fence")
    if not (text.strip() or reply.tool_input):
        return ScriptReading(ReadingOutcome.EMPTY)
    return _unparsed("the reply contains no script")


def _unparsed(note: str) -> ScriptReading:
    return ScriptReading(ReadingOutcome.UNPARSED, note=note)


def _from_blocks(text: str, blocks: list[Block], fenced: list[Block]) -> ScriptReading:
    blocks = [_plain(block) for block in blocks if not markup.holds_json(block.content)]
    is_script = any(
        block.is_closed and (block.language == STRING or SHEBANG.match(block.content))
        for block in blocks
    )
    for before, block in pairwise([Block(0, 0, "", ""), *blocks]):
        # The missing part may belong to an invocation of the script or to a better script.
        script = block.content.strip()
        is_better = script.startswith("#!") or is_correction(text[before.end : block.start])
        if script and not (
            block.is_closed or (is_script and (not is_better or script in before.content))
        ):
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
        or [block for block in readable if loose.is_command(block.content)]
    )
    if not candidates:
        return _unparsed("the reply contains no script")
    best, note = choose(text, blocks, candidates)
    if best is None:
        return _unparsed(note)
    if best.language == STRING:
        return _unwrapped(best.content, note)
    is_foreign = any(block.language not in (STRING, *SHELLS, *PLAIN) for block in blocks)
    if is_foreign and consists_of(best.content, "comment", "runs"):
        return _unparsed("the code block with commands only runs a script in another one")
    is_loose = all(block.start != best.start for block in fenced)
    if is_loose and any(block.language not in (*SHELLS, *PLAIN) for block in fenced):
        return _unparsed("part of it is in a code block of another language")
    is_whole = is_loose and (best.start, best.end) == (0, len(text))
    is_fenced = any(best.end == block.end and block.is_closed for block in fenced)
    script = loose.before_prose(best.content)[0] or best.content
    if is_cut_short(script):
        return _unparsed("the script ends inside a command, a string or a here-document")
    first, _newline, rest = script.lstrip("\n").partition("\n")
    is_named = not best.language and first.strip() in SHELLS and rest.lstrip().startswith("#")
    script = rest.lstrip() if is_named else script
    notes = {
        note: True,
        "the whole reply": is_whole,
        "without a whole code fence": not (is_whole or (is_fenced and not is_loose)),
        "a here-document in it contains a code fence": best.is_nested,
        "its language was on its own line": is_named,
        f"{best.indent} spaces removed from each line because its code block was indented": best.indent,
    }
    is_console = best.language in markup.CONSOLES and not SHEBANG.match(script)
    return _usable(script, *(one for one in notes if notes[one]), is_console=is_console)


def _plain(block: Block) -> Block:
    """Return the block without line numbers or diff markers, and with decoded HTML entities if all are escaped."""
    content = block.content
    if block.language == STRING:
        return block
    if _ENTITIES.search(content) and not _NO_ENTITY.search(content):
        content = unescape(content)
    language = block.language
    if diff := markup.NEW_FILE.fullmatch(content.strip()):
        content, language = re.sub(r"(?m)^\+", "", diff["lines"]).rstrip() + "\n", "diff"
    content = strip_line_numbers(content) or content
    if language not in (*SHELLS, *PLAIN) and is_plainly_bash(content, language):
        language = ""
    return replace(block, content=content, language=language)


def _unwrapped(script: str, note: str) -> ScriptReading:
    """Return the script in a JSON string, which may contain a complete reply."""
    for block in markup.find_blocks(script)[:1]:
        if block.is_closed and not (script[: block.start] + script[block.end :]).strip():
            return _usable(block.content, note, "extracted from its code fence")
        is_inside = HEREDOC.search(script, 0, block.start) and is_complete(script)
        if not (is_inside or SHEBANG.match(script) or loose.is_command(script)):
            return read_script(Reply(script))
    script = loose.before_prose(script)[0] or script
    is_one_line = script.startswith("#!") and "\n" not in script and "\\n" in script
    return _usable(script, note, "its line ends are written as \\n" * is_one_line)


def _usable(script: str, *notes: str, is_console: bool = False) -> ScriptReading:
    if not script.strip():
        return ScriptReading(ReadingOutcome.EMPTY)
    commands = strip_prompts(script, is_console=is_console)
    refusals = {
        "the script contains a NUL byte": "\0" in script,
        "the script contains an invalid character (unpaired surrogate)": re.search(
            "[\ud800-\udfff]", script
        ),
        "the script is larger than 1 MB": len(script.encode(errors="replace")) > MAX_SCRIPT_BYTES,
        "only some lines of the script are numbered": strip_line_numbers(script) is None,
        "only some lines of the console transcript have a prompt": commands is None,
        _MARKED: holds_mark(script) or holds_mark_word(script),
        "the script contains only prose": loose.is_words(script),
        "the script contains only comments": "\n" in script
        and loose.is_only_comments(commands or "x"),
    }
    for note, is_refused in refusals.items():
        if is_refused:
            return _unparsed(note)
    assert commands is not None
    notes = (*notes, "its prompts removed" * (commands != script))
    return ScriptReading(ReadingOutcome.READ, commands, "; ".join(filter(None, notes)))
