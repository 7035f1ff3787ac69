"""Finds JSON objects, code blocks and tagged lines in the text of a reply; it does not judge them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import unescape
from itertools import islice

CONSOLES = ("console", "terminal", "shell-session", "sh-session", "shellsession")
SHELLS = ("bash", "sh", "shell", "zsh", "ksh", "shell-script", "shellscript", *CONSOLES)
PLAIN = ("", "none", "text", "txt", "plaintext", "plain", "code", "script")

# Bounds the time for a reply of nothing but braces or fences.
_MOST_TRIES = 1000
_MOST_FENCES = 5_001
_MOST_MISSING_ENDS = 20
_MOST_BEFORE = 200
_MOST_TAGS = 10
_THOUGHT = r"(?:seed:)?(?:think(?:ing)?|thoughts?|reasoning|scratchpad)>"
_THOUGHT_END = rf"(?:</{_THOUGHT}|\[/THINK\]|◁/think▷)"
_THOUGHT_ENDS = re.compile(rf"{_THOUGHT_END}(?!['\"`])|(?<!['\"`]){_THOUGHT_END}", re.IGNORECASE)
_THOUGHT_BEGINS = re.compile(
    rf"^[ \t]*(?:<{_THOUGHT}|\[THINK\]|◁think▷)", re.IGNORECASE | re.MULTILINE
)
# Harmony, as gpt-oss writes it; some servers drop the special tokens and leave "analysis...assistantfinal...".
_HARMONY = re.compile(
    r"\A\s*(?:<\|(?:channel|start)\|>|analysis[A-Z\"])|(?<!['\"`])<\|start\|>assistant\s*<\|channel\|>"
)
_FINAL = re.compile(
    r"(?:<\|channel\|>\s*final\b(?:(?!<\|message\|>).){0,200}<\|message\|>|assistantfinal)"
    r"(.*?)(?=<\|(?:end|return|call|start|channel)\|>|assistantfinal|\Z)",
    re.DOTALL,
)
# A fence may also end the last line of its block: "fi```".
_FENCE = re.compile(
    r"^(?P<before>[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?)(?P<mark>`{3,}|~{3,})"
    r"[ \t]*+(?P<language>[\w+.-]*+)(?P<more>[^\n`]*+)$|(?<=[^\s`])(?P<glued>`{3,})[ \t\r]*+$",
    re.MULTILINE,
)
# Words after a closing fence, as in "``` This script does ...".
_WORDS_AFTER = re.compile(r"[ \t]*+[A-Z][\w']*+(?: +[^\s=]+){2}")
_LAST_TOKENS = re.compile(
    r"(?:\s*+(?:<\|\w{1,30}\|>|<｜[^｜\n]{1,30}｜>|</?s>|<end_of_turn>|<eos>))+\s*\Z"
)
_QUOTED_CODE = re.compile(r"^> ?(?:```|~~~|#!)", re.MULTILINE)
# What begins the code within an element.
_ELEMENTS = {"pre": r"(?:<code\b[^>\n]{0,200}>)?", "script": r"(?:<!\[CDATA\[\s*+|(?=#!))"}
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
_SPAN = re.compile(r"</?span\b[^>\n]{0,200}>", re.IGNORECASE)
_MOST_TURNS = 50
_TURN = re.compile(
    r"(?:<\|im_end\|>\s*+)?(?:<\|(?:im_start|start_header_id|user|assistant)\|>|<start_of_turn>|\[INST\])"
    r"|^(?:(?:\*\*|#+ )?(?:user|human|question|q):|### (?:user|human|instruction)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_DATA = ("yaml", "yml", "toml", "xml", "html")  # their strings may hold the script
_WRAPPERS = ("markdown", "md")
_BEGINS_WITH_A_KEY = re.compile(r"\s*[\[{]\s*(?:\{\s*)*\"[^\"\n]*\"\s*[:,]")
_BEGINS_LIKE_JSON = re.compile(r"\{\s*[\"'}]")
# An object in the middle of a sentence is a quotation; an answer begins its line or follows such a word.
_LEADS_TO_AN_OBJECT = re.compile(
    r"[\s\[*_+`#-]*(?:\d{1,3}[.)]\s*)?(?:</?\w+>\s*)?|.*\b(?:answer|json|verdict|response)\W*",
    re.IGNORECASE,
)
_TAG = re.compile(
    r"^[ \t]*+(?:(?:[-+]|#+|\d{1,3}[.)])[ \t]*+)?[*_`]*+(?:final[ \t]+)?verdict[*_`]*+[ \t]*+[:=]"
    r"[ \t*_`\"']*+([\w-]++(?: error)?)[ \t*_`\"'.!]*+$",
    re.IGNORECASE | re.MULTILINE,
)
_HEREDOC = re.compile(r"(?<!<)<<(?P<tabs>-?)[ \t]*['\"\\]?(?P<word>[A-Za-z_]\w*)")
_ONE_WORD = re.compile(r"\n(?P<tabs>\t*)(?P<word>\w+)\r?(?=\n|\Z)")


@dataclass(frozen=True)
class FoundObject:
    """An outermost JSON object; `value` is None if it begins and can't be decoded."""

    start: int
    end: int
    value: dict[str, object] | None
    is_said: bool  # False in the middle of a sentence


@dataclass(frozen=True)
class Block:
    """A fenced block: its position, its language in lower case, its exact content."""

    start: int
    end: int
    language: str
    content: str
    is_closed: bool = True
    is_nested: bool = False  # a fence inside a here-document did not end it
    indent: int = 0  # blanks taken off each line, because the fence stood in a list

    @property
    def is_code(self) -> bool:
        """Whether its content is quoted text: JSON in a block of its own is not."""
        return self.language in SHELLS or not self.content.lstrip().startswith(("{", "["))


def with_plain_blanks(text: str) -> str:
    """The text without unusual blanks at the ends of lines, which a shell takes for part of a word."""
    return _ODD_BLANKS.sub(lambda found: found[0].translate(_PLAIN_BLANKS), text)


def drop_thinking(text: str) -> str:
    """The text after the model's thinking; nothing if the thinking does not end.

    Thinking ends at the last tag that ends it, whether or not a tag opens it, or with the final channel.
    """
    text = text.removeprefix("\ufeff")
    if _HARMONY.search(text):
        text = (_FINAL.findall(text) or [""])[-1]
    text = text[_after_last(_THOUGHT_ENDS, text) :]
    return "" if _after_last(_THOUGHT_BEGINS, text) else text


def _after_last(tag: re.Pattern[str], text: str) -> int:
    """Where the last tag ends that is part of neither a JSON object nor a script; 0 if there is none."""
    found = list(tag.finditer(text))[-_MOST_TAGS:]
    if not found:
        return 0
    spans = [(start, end) for start, end, value in _scan_objects(text) if value is not None]
    spans += [(block.start, block.end) for block in find_blocks(text)]
    spans += [(0, len(text))] if text.lstrip().startswith("#!") else []
    for one in reversed(found):
        holders = [start for start, end in spans if start < one.start() < end]
        # A draft in the thinking may lack its closing fence: then the tag begins or ends a line of its own.
        line = text.rfind("\n", 0, one.start()) + 1
        script = text[max(holders, default=0) : line].partition("\n")[2]
        if not holders or not (
            tag is _THOUGHT_BEGINS
            or text[max(holders)] == "{"
            or (text[line : one.start()].strip() and text[one.end() :].partition("\n")[0].strip())
            or re.search(f"<{_THOUGHT}", script, re.IGNORECASE)
            or has_open_heredoc(script)
        ):
            return one.end()
    return 0


def as_markdown(text: str) -> str:
    """The text with quoted, preformatted, numbered and XML's code in blocks, without its last special tokens."""
    text = text[:-300] + _LAST_TOKENS.sub("\n", text[-300:])
    if len(blocks := find_blocks(text)) == 1 and blocks[0].language in _DATA:
        text = text[: blocks[0].start] + blocks[0].content + text[blocks[0].end :]
    if not _FENCE.search(text):
        if _QUOTED_CODE.search(text):
            return re.sub(r"(?m)^> ?", "", text)
        if text.lstrip().startswith("#!"):
            return text
        for tag, begin in _ELEMENTS.items():
            head, end, tail = text.rpartition(f"</{tag}>")
            one = (
                rf"(?is)<{tag}\b[^>\n]{{0,200}}>\s*+{begin}(.*?)(?:(?:</code>|\]\]>)\s*+)?</{tag}>"
            )
            text = re.sub(one, _fenced, head + end) + tail
        text = _LISTING.sub(r"```\n\g<0>```\n", text)
        text = _SCALAR.sub(_unindented, text)
    return text


def _fenced(element: re.Match[str]) -> str:
    code = element[1] if "<![CDATA[" in element[0] else unescape(_SPAN.sub("", element[1]))
    return "\n```\n" + code.strip("\n") + "\n```\n"


def _unindented(scalar: re.Match[str]) -> str:
    return "```\n" + scalar[3].replace("\n" + scalar[2], "\n").rstrip() + "\n```\n"


def before_next_turn(text: str) -> str:
    """The text up to where the model goes on with an invented message of the user, or with another reply."""
    blocks = find_blocks(text)
    for turn in islice(_TURN.finditer(text), _MOST_TURNS):
        at = turn.start()
        if ("#!" in text[:at] or any(block.end <= at for block in blocks)) and not any(
            block.start < at < block.end and block.is_closed for block in blocks
        ):
            return text[:at]
    return text


def find_objects(text: str, key: str) -> list[FoundObject]:
    """The JSON objects outside code that contain the key, in order, including undecodable ones that seem to.

    An object that wraps the wanted one, as some models write a tool call, counts as it.
    """
    mentions = re.compile(rf"[\"']{re.escape(key)}[\"']\s*:", re.IGNORECASE)
    found = []
    for start, end, value in _scan_objects(text):
        if value is None:
            if not mentions.search(text, start, end):
                continue
        else:
            value = _holder_of(value, key)
            if value is None:
                continue
        line = text[max(text.rfind("\n", 0, start) + 1, start - _MOST_BEFORE) : start]
        is_said = _LEADS_TO_AN_OBJECT.fullmatch(line) is not None
        found.append(FoundObject(start, end, value, is_said))
    code = [block for block in find_blocks(text, besides=found) if block.is_code]
    return [one for one in found if not any(b.start < one.start < b.end for b in code)]


def find_strings(text: str) -> set[str]:
    """The strings in JSON, at any depth and under any key, and lists of lines as strings."""
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
    """The fenced blocks in order; none begins inside an object of `besides`.

    A block is not closed if the text ends in it, or if a fence that names a language follows its opening fence.
    """
    blocks: list[Block] = []
    opened: re.Match[str] | None = None
    is_nested = is_wrapped = False
    heredocs = Heredocs(text)
    for fence in islice(_FENCE.finditer(text), _MOST_FENCES):
        is_inside = opened is not None and heredocs.contain(fence.start())
        if is_inside and not heredocs.is_cut:
            is_nested = True
            continue
        if opened is not None and _closes(fence, opened):
            content = text[_content_start(opened) : fence.start()] + "\n" * bool(fence["glued"])
            blocks.append(_block_of(opened, content, fence.end(), is_nested=is_nested))
            opened = None
            continue
        if opened is not None:
            if is_inside or not _opens_afresh(fence, opened):
                continue
            content = text[_content_start(opened) : fence.start()]
            is_wrapped |= opened["language"].lower() in _WRAPPERS
            if not _opens_nothing(opened, content):
                blocks.append(_block_of(opened, content, fence.start(), is_closed=False))
        elif fence["glued"] or any(one.start < fence.start() < one.end for one in besides):
            continue
        opened, is_nested = fence, False
        heredocs.restart(fence.end())
    if opened is not None and not (is_wrapped and not text[opened.end() :].strip()):
        content = text[_content_start(opened) :]
        blocks.append(_block_of(opened, content, len(text), is_closed=False))
    return blocks


def holds_json(content: str) -> bool:
    """Whether a block contains a JSON object or list, well formed or not: no script begins like that."""
    return _BEGINS_WITH_A_KEY.match(content) is not None


def find_tags(text: str) -> list[str]:
    """The words of lines such as `Verdict: match`, outside code blocks and JSON objects."""
    spans = [(block.start, block.end) for block in find_blocks(text)]
    spans += [(start, end) for start, end, _ in _scan_objects(text)]
    return [
        tag[1]
        for tag in _TAG.finditer(text.replace("\r\n", " \n"))
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
                # What stands inside a broken object is part of it, and no answer of its own.
                end = _end_of_braces(text, position)
                yield position, end, None
        else:
            yield position, end, value
        position = text.find("{", end)


def _without_contradiction(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """The pairs by their keys in lower case; a key with two values is left out."""
    found: dict[str, object] = {}
    for name, value in pairs:
        name = name.strip().lower()
        found[name] = value if found.get(name, value) == value else None
    return found


def _holder_of(value: dict[str, object], key: str) -> dict[str, object] | None:
    if key in value:
        return value
    inner = [one for one in value.values() if isinstance(one, dict) and key in one]
    return inner[0] if len(inner) == 1 else None


def _end_of_braces(text: str, start: int) -> int:
    """Where the braces that open at `start` are closed; the end of the text if they never are."""
    depth = 0
    for part in re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL).finditer(text, start):
        depth += {"{": 1, "}": -1}.get(part[0], 0)
        if depth == 0 and part[0] == "}":
            return part.end()
    return len(text)


def _closes(fence: re.Match[str], opened: re.Match[str]) -> bool:
    mark, wanted = fence["mark"] or fence["glued"], opened["mark"]
    if mark[0] != wanted[0] or len(mark) < len(wanted):
        return False
    after = f"{fence['language']}{fence['more']}" if fence["mark"] else ""
    bare = not fence["language"] and not (fence["before"] or "").strip()
    return bare or _WORDS_AFTER.match(after) is not None


def _opens_afresh(fence: re.Match[str], opened: re.Match[str]) -> bool:
    """Whether a fence that names a language shows that the block before it ended, or never began."""
    is_like = fence["language"] and fence["mark"][0] == opened["mark"][0]
    is_wrapped = opened["language"].lower() in _WRAPPERS
    return bool(is_like and (is_wrapped or len(fence["mark"]) >= len(opened["mark"])))


def _opens_nothing(opened: re.Match[str], content: str) -> bool:
    """Whether a fence before another wraps the whole answer, or is a stray one before words."""
    language = opened["language"].lower()
    return language in _WRAPPERS or not (language or content.lstrip().startswith("#!"))


def _content_start(opened: re.Match[str]) -> int:
    """Where the content of a block begins; a shebang may stand on the line of the fence."""
    shebang = opened["more"].find("#!")
    return (
        min(opened.end() + 1, len(opened.string)) if shebang < 0 else opened.start("more") + shebang
    )


def _block_of(
    opened: re.Match[str], content: str, end: int, *, is_closed: bool = True, **found: bool
) -> Block:
    indent = len(opened["before"])
    lines = content.split("\n")
    if indent and all(not line[:indent].strip() for line in lines):
        content = "\n".join(line[indent:] for line in lines)
    else:
        indent = 0
    language = opened["language"].lower()
    language = "sh" if language.endswith(".sh") else language
    return Block(opened.start(), end, language, content, is_closed, indent=indent, **found)


class Heredocs:
    """Tells which positions of a text are in a here-document; quotes and arithmetic are examined line by line."""

    def __init__(self, text: str) -> None:
        self._text, self._missing = text, 0
        self.restart(0)

    def restart(self, position: int) -> None:
        """Begin a script at this position."""
        self._read_to, self.is_cut = position, False

    def contain(self, position: int) -> bool:
        """Whether the position, not before an earlier one, is in a here-document, which may never end (`is_cut`)."""
        text = self._text
        while not self.is_cut and (found := _HEREDOC.search(text, self._read_to, position)):
            start = text.rfind("\n", self._read_to, found.start()) + 1 or self._read_to
            end = text.find("\n", found.end())
            self._read_to = len(text) if end < 0 else end
            for marker in _heredocs_in(text[start : self._read_to]):
                self._skip(marker)
        return self.is_cut or self._read_to > position

    def _skip(self, marker: re.Match[str]) -> None:
        if not self.is_cut and self._missing < _MOST_MISSING_ENDS:
            for line in _ONE_WORD.finditer(self._text, self._read_to):
                if line["word"] == marker["word"] and (marker["tabs"] or not line["tabs"]):
                    self._read_to = line.end()
                    return
        self._missing += 1
        self.is_cut = True


def _heredocs_in(line: str) -> Iterator[re.Match[str]]:
    if line.lstrip().startswith("#"):
        return
    arithmetic, counted, quotes = line.find("(("), 0, {'"': 0, "'": 0}
    for found in _HEREDOC.finditer(line):
        for quote in quotes:
            quotes[quote] += line.count(quote, counted, found.start())
        counted = found.start()
        if not (any(count % 2 for count in quotes.values()) or -1 < arithmetic < counted):
            yield found


def has_open_heredoc(script: str) -> bool:
    """Whether a here-document begins and does not end."""
    heredocs = Heredocs(script)
    heredocs.contain(len(script))
    return heredocs.is_cut
