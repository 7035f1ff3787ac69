"""Find JSON objects, code blocks and tagged lines in a reply, without interpreting them."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import unescape
from itertools import islice

from pipeline.flow.reading.phrases import pattern, says
from pipeline.flow.reading.transcripts import HEREDOC, end_of_heredoc

CONSOLES = ("console", "terminal", "shell-session", "sh-session", "shellsession")
SHELLS = ("bash", "sh", "shell", "zsh", "ksh", "shell-script", "shellscript", *CONSOLES)
PLAIN = ("", "none", "text", "txt", "plaintext", "plain", "code", "script")
STRING = "a string in JSON"  # the language of a block without a fence

_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_LEGAL = '"\\/bfnrtu'
# Limit the parsing time for a reply full of braces, fences or tags.
_MOST_TRIES = 1000
_MOST_MARKS = 10_002
_MOST_BEFORE = 200
_MOST_TAGS = 10
_FINAL = re.compile(
    r"<\|channel\|>\s*(?:final\b|commentary to=)[^<]{0,200}(?:<\|[^<]{0,200})?<\|message\|>|assistantfinal"
)
# A fence may also end the last line of its block ("fi```"), or open a Bash block within a line ("Run: ```bash").
_FENCE = (
    r"(?P<before>^[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?|(?P<inline>(?<=[\w:.!*)])|(?<=[\w:.!*)] ))"
    r"(?=```(?:(?i:bash|sh|shell|zsh|console)[ \t]*$|(?:bash|sh)?[ \t]*#!.{0,80}sh\b)|(?<=: )```$))"
    r"(?P<mark>`{3,}|~{3,})[ \t]*+(?P<language>[\w+.-]*+)(?P<more>[^\n`]*+)$|(?<=[^\s`])(?P<glued>`{3,})[ \t\r]*+$"
)
_THOUGHT = rf"^[ \t]*+(?P<thought>{pattern('thought').pattern})[ \t\r]*+$"
_MARK = re.compile(f"{_FENCE}|{HEREDOC.pattern}|{_THOUGHT}", re.MULTILINE)
_QUOTED_CODE = re.compile(r"^> ?(?:```|~~~|#!)", re.MULTILINE)
# Pattern for the text that precedes the code in each element.
_ELEMENTS = {
    "pre": r"(?:<code\b[^>\n]{0,200}>)?",
    "script": r"(?:<!\[CDATA\[\s*+|(?=#!))",
    "code": r"(?<=\n)",
}
_LISTING = re.compile(r"(?m)(?:^[ \t]*+\d++[ \t]*+[|│].*+\n?){2,}+")
_SCALAR = re.compile(
    r"(?mi)^([ \t]*+)[\"']?(?:script|code|content|bash)[\"']?:[ \t]*+\|[-+\d]*+\n"
    r"(\1[ \t]++)(\S.*+\n?(?:\2.*+\n?|[ \t]*+\n)*+)"
)
_BLANKS, _ZERO = "\xa0\u2002\u2003\u2009\u202f", "\u200b\u200c\u200d\u2060\ufeff"
_ODD_BLANKS = re.compile(
    rf"(?m)^[ \t]*+[{_BLANKS}{_ZERO}][ \t{_BLANKS}{_ZERO}]*+|(?<![{_ZERO}])[{_ZERO}]++(?=\r?$)"
)
_PLAIN_BLANKS = str.maketrans(_BLANKS, " " * len(_BLANKS), _ZERO)
_MOST_TURNS = 50
_DATA = ("yaml", "yml", "toml", "xml", "html")  # their strings may contain the script
# A diff that creates a file.
NEW_FILE = re.compile(
    r"(?:^(?:diff|new file|[Ii]ndex|===).*+\n){0,6}+^--- /dev/null.*+\n\+\+\+ .*+\n(?:@@ .*+\n)?"
    r"(?P<lines>(?:\+.*+\n?|\n(?=\n*+\+))++)(?:\\ No newline.*+)?",
    re.MULTILINE,
)
_WRAPPERS = ("markdown", "md")
_BEGINS_WITH_A_KEY = re.compile(r"\s*[\[{]\s*(?:\{\s*)*\"[^\"\n]*\"\s*[:,]")
_BEGINS_LIKE_JSON = re.compile(r"\{\s*[\"'}]")


@dataclass(frozen=True)
class FoundObject:
    """An outermost JSON object. `value` is None if the object can't be decoded."""

    start: int
    end: int
    value: dict[str, object] | None
    is_said: bool  # False in the middle of a sentence


@dataclass(frozen=True)
class Block:
    """A code block with its position, its language in lower case and its exact content."""

    start: int
    end: int
    language: str
    content: str
    is_closed: bool = True
    is_nested: bool = False  # a here-document in the block contains a fence
    indent: int = 0  # number of spaces removed from each line, because the fence was indented
    words: str = ""  # text between the previous block and this block

    @property
    def lead(self) -> str:
        """Return the last two lines of the text before the block."""
        return "\n".join(self.words.rstrip().rsplit("\n", 2)[-2:])[-1000:]


def with_plain_blanks(text: str) -> str:
    """Replace unusual indentation, and remove zero-width characters at line ends. A shell would treat both as words."""
    return _ODD_BLANKS.sub(lambda found: found[0].translate(_PLAIN_BLANKS), text)


def drop_thinking(text: str) -> str:
    """Return the text after the model's thinking, or "" if the thinking is never closed.

    Thinking ends at the last closing tag, with or without an opening tag, or at the final channel.
    """
    text = text.removeprefix("\ufeff")
    if says(text, "harmony"):
        text = _FINAL.split(f"assistantfinal<|{text}")[-1].partition("<|")[0]
    if text.lstrip().startswith("#!"):
        return text
    end = 0
    spans = _code_in(text)
    for tag in deque(pattern("thought").finditer(text), _MOST_TAGS):
        end = end if any(start < tag.start() < stop for start, stop in spans) else tag.end()
    for tag in pattern("thinking").finditer(text, end):
        if not any(start < tag.start() < stop for start, stop in spans):
            return ""
    return text[end:]


def as_markdown(text: str) -> str:
    """Return the first turn of a reply, with quoted, preformatted, numbered or XML code converted to code blocks."""
    text = _first_turn(text)
    if len(blocks := find_blocks(text)) == 1 and blocks[0].language in _DATA:
        text = text[: blocks[0].start] + blocks[0].content + text[blocks[0].end :]
    elif blocks or _code_in(text) or text.lstrip().startswith("#!"):
        return text
    text = NEW_FILE.sub(r"```diff\n\g<0>\n```\n", text)
    if _QUOTED_CODE.search(text):
        return re.sub(r"(?m)^> ?", "", text)
    for tag, begin in _ELEMENTS.items():
        head, end, tail = text.rpartition(f"</{tag}>")
        one = rf"(?is)<{tag}\b[^>\n]{{0,200}}>\s*+{begin}(.*?)(?:(?:</code>|\]\]>)\s*+)?</{tag}>"
        text = re.sub(one, _fenced, head + end) + tail
    text = re.sub(r"</?(?:code|kbd|tt)>", "`", re.sub(r"<br ?/?>|(?<=[\w\"]>)(?=#!)", "\n", text))
    text = _LISTING.sub(r"```\n\g<0>```\n", text)
    return _SCALAR.sub(
        lambda one: "```\n" + one[3].replace("\n" + one[2], "\n").rstrip() + "\n```\n", text
    )


def _fenced(element: re.Match[str]) -> str:
    code = element[1]
    if "<![CDATA[" not in element[0]:
        code = unescape(re.sub(r"</?span\b[^>\n]{0,200}>", "", code))
    return "\n```\n" + code.strip("\n") + "\n```\n"


def _code_in(text: str) -> list[tuple[int, int]]:
    """Return the spans of the JSON objects and the closed code blocks."""
    objects = [(start, end) for start, end, value in _scan_objects(text) if value is not None]
    return objects + [(block.start, block.end) for block in find_blocks(text) if block.is_closed]


def _first_turn(text: str) -> str:
    """Return the first turn with code, or the first with prose if no turn has code. A model may invent later turns."""
    spans = _code_in(text)
    start, words = 0, ""
    for turn in islice(pattern("turn").finditer(text), _MOST_TURNS):
        if any(begin < turn.start() < end for begin, end in spans):
            continue
        part = text[start : turn.start()]
        if "#!" in part or any(start <= begin and end <= turn.start() for begin, end in spans):
            return part
        start, words = turn.end(), words or part.strip()
    part = text[start:]
    return part if start == 0 or "#!" in part or "```" in part or not words else words


def find_objects(text: str, key: str) -> list[FoundObject]:
    """Return the JSON objects outside code that contain the key, in order, including broken objects.

    The key may be in a nested object, because some models nest the arguments of tool calls.
    """
    mentions = re.compile(rf"[\"']{re.escape(key)}[\"']\s*:", re.IGNORECASE)
    found = []
    for start, end, value in _scan_objects(text):
        holder = _holder_of(value, key) if value else None
        if not (holder or (value is None and mentions.search(text, start, end))):
            continue
        line = text[max(text.rfind("\n", 0, start) + 1, start - _MOST_BEFORE) : start]
        lead = pattern("answer lead").fullmatch(line)
        is_said = lead is not None and not (lead["sentence"] and text[end:].strip("`*. \n"))
        found.append(FoundObject(start, end, holder, is_said))
    code = [
        block
        for block in find_blocks(text, besides=found)
        if block.language in SHELLS or not holds_json(block.content)
    ]
    return [one for one in found if not any(b.start < one.start < b.end for b in code)]


def with_legal_escapes(text: str, key: str) -> str:
    """Double the backslashes that JSON does not allow, such as in `\\;`, if this makes an object with the key readable.

    Small models often copy parts of a script into JSON without escaping them.
    """
    legal = _ESCAPE.sub(lambda found: found[0] if found[1] in _LEGAL else f"\\{found[0]}", text)
    if legal == text or all(one.value for one in find_objects(text, key)):
        return text
    return legal if any(one.value for one in find_objects(legal, key)) else text


def find_strings(text: str) -> set[str]:
    """Return the JSON strings at any depth and under any key. A list of lines also counts as one string."""
    found: set[str] = set()
    waiting: list[object] = [value for _, _, value in _scan_objects(text)]
    with suppress(ValueError, RecursionError):
        waiting.append(json.loads(text.strip("` \n").removeprefix("json"), strict=False))
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict | list):
            waiting += value.values() if isinstance(value, dict) else value
            found.add("\n".join(line for line in value if isinstance(line, str)))
        elif isinstance(value, str):
            found.add(value)
    return found


def find_blocks(text: str, *, besides: Sequence[FoundObject] = ()) -> list[Block]:
    """Return the fenced blocks in order, except blocks that begin inside the given objects. Markdown blocks are
    unwrapped.

    A block is not closed if the text ends inside it, or if the next fence names a language.
    """
    blocks: list[Block] = []
    opened: re.Match[str] | None = None
    is_nested = is_cut = False
    read_to = marks = 0
    while (mark := _MARK.search(text, read_to)) and (marks := marks + 1) < _MOST_MARKS:
        read_to = mark.end()
        fence = (mark["inline"] is None and mark["mark"]) or mark["glued"] or "-"
        is_like = opened and fence.startswith(opened["mark"])
        if mark["thought"]:
            opened = None  # a draft in the thinking may lack its closing fence
        elif mark["word"]:
            if opened and not is_cut and (end := end_of_heredoc(mark, opened.end())) is not None:
                is_nested |= "```" in text[read_to:end]
                is_cut, read_to = not end, end or read_to
                marks += 0 if end else _MOST_MARKS // 20
        elif not opened:
            is_inside = any(one.start < mark.start() < one.end for one in besides)
            if not (mark["glued"] or is_inside or mark["language"].lower() in _WRAPPERS):
                opened, is_nested, is_cut = mark, False, False
        elif is_like and (mark["glued"] or not (mark["before"].strip() or mark["language"])):
            blocks.append(_block_of(opened, mark, is_closed=True, is_nested=is_nested))
            opened = None
        elif is_like and mark["language"] and not is_cut:
            block = _block_of(opened, mark)
            blocks += [block] if block.language or block.content.lstrip().startswith("#!") else []
            opened, is_nested = mark, False
    if opened:
        blocks.append(_block_of(opened, None))
    return blocks


def holds_json(content: str) -> bool:
    """Return whether a block begins like a JSON object or list, which no script does. The JSON may be broken."""
    return _BEGINS_WITH_A_KEY.match(content) is not None


def find_tags(text: str) -> list[str]:
    """Return the values of lines such as `Verdict: match`, outside code blocks and JSON objects."""
    spans = [(block.start, block.end) for block in find_blocks(text)]
    spans += [(start, end) for start, end, _ in _scan_objects(text)]
    return [
        tag[1]
        for tag in pattern("tag").finditer(text.replace("\r\n", " \n"))
        if not any(start <= tag.start(1) < end for start, end in spans)
    ]


def _scan_objects(text: str) -> Iterator[tuple[int, int, dict[str, object] | None]]:
    decoder = json.JSONDecoder(strict=False, object_pairs_hook=_without_contradiction)
    position, tries = text.find("{"), 0
    while position >= 0:
        tries += 1
        if tries > _MOST_TRIES:
            yield position, len(text), None
            return
        try:
            value, end = decoder.raw_decode(text, position)
        except (json.JSONDecodeError, RecursionError):
            end = position + 1
            if _BEGINS_LIKE_JSON.match(text, position):
                # Objects inside a broken object are part of it and are not answers.
                end = _end_of_braces(text, position)
                yield position, end, None
        else:
            yield position, end, value
        position = text.find("{", end)


def _without_contradiction(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the pairs as a dict with lowercase keys. The value of a key with conflicting values is None."""
    found: dict[str, object] = {}
    for name, value in pairs:
        name = name.strip().lower()
        found[name] = value if found.get(name, value) == value else None
    return found


def _holder_of(value: dict[str, object], key: str) -> dict[str, object] | None:
    if key in value:
        return value
    inner = [one for one in map(_decoded, value.values()) if isinstance(one, dict) and key in one]
    return inner[0] if len(inner) == 1 else None


def _decoded(value: object) -> object:
    """Return the object in a JSON string, or the value itself. Some servers send tool arguments as JSON strings."""
    found = _scan_objects(value) if isinstance(value, str) and value.startswith("{") else ()
    return next((inner for _, _, inner in found), value)


def _end_of_braces(text: str, start: int) -> int:
    """Return the position after the brace that closes the brace at `start`, or the end of the text."""
    depth = 0
    for part in re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL).finditer(text, start):
        depth += {"{": 1, "}": -1}.get(part[0], 0)
        if depth == 0 and part[0] == "}":
            return part.end()
    return len(text)


def _block_of(
    opened: re.Match[str],
    end: re.Match[str] | None,
    is_closed: bool = False,
    is_nested: bool = False,
) -> Block:
    """Return the block from an opening fence to the next fence or the end of the text.

    The shebang may be on the line of the opening fence.
    """
    text, shebang = opened.string, opened["more"].find("#!")
    start = opened.end() + 1 if shebang < 0 else opened.start("more") + shebang
    content = text[start : end.start() if end else None] + "\n" * bool(end and end["glued"])
    lines, indent = content.split("\n"), len(opened["before"])
    indent = 0 if any(line[:indent].strip() for line in lines) else indent
    content = "\n".join(line[indent:] for line in lines)
    language = opened["language"].lower()
    language = "sh" if language.endswith(".sh") else language
    stop = (end.end() if is_closed else end.start()) if end else len(text)
    return Block(opened.start("mark"), stop, language, content, is_closed, is_nested, indent)
