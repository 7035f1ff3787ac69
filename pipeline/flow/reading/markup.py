"""Finds JSON objects, code blocks and tagged lines in the text of a reply; it does not judge them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

CONSOLES = ("console", "terminal", "shell-session", "sh-session", "shellsession")
SHELLS = ("bash", "sh", "shell", "zsh", "ksh", "shell-script", "shellscript", *CONSOLES)

# Bounds the time for a reply of nothing but braces or fences.
_MOST_TRIES = 1000
_MOST_FENCES_AHEAD = 20
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
_FENCE = re.compile(
    r"^(?P<before>[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+)?)(?P<mark>`{3,}|~{3,})"
    r"[ \t]*+(?P<language>[\w+.-]*+)[^\n`]*+$",
    re.MULTILINE,
)
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
_HEREDOC = re.compile(r"(?<!<)<<(?P<tabs>-?)[ \t]*(?P<quote>['\"\\]?)(?P<word>[A-Za-z_]\w*)")


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
    is_cut: bool = False  # it ends while a here-document is open
    indent: int = 0  # blanks taken off each line, because the fence stood in a list

    @property
    def is_code(self) -> bool:
        """Whether its content is quoted text: JSON in a block of its own is not."""
        return self.language in SHELLS or not self.content.lstrip().startswith(("{", "["))


def drop_thinking(text: str) -> str:
    """The text after the model's thinking, without a byte order mark; nothing if the thinking does not end.

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


def find_blocks(text: str, *, besides: Sequence[FoundObject] = ()) -> list[Block]:
    """The fenced blocks in order, the last one perhaps never closed; none begins inside an object of `besides`."""
    blocks: list[Block] = []
    opened: re.Match[str] | None = None
    is_nested = False
    fences = list(_FENCE.finditer(text))
    for at, fence in enumerate(fences):
        if opened is None:
            if not any(one.start < fence.start() < one.end for one in besides):
                opened, is_nested = fence, False
            continue
        if not _closes(fence, opened):
            if _opens_afresh(fence, opened, text):
                opened, is_nested = fence, False
            continue
        content = text[opened.end() + 1 : fence.start()]
        is_cut = has_open_heredoc(content)
        if is_cut and any(
            _closes(later, opened) and not has_open_heredoc(text[opened.end() + 1 : later.start()])
            for later in fences[at + 1 : at + 1 + _MOST_FENCES_AHEAD]
        ):
            is_nested = True
            continue
        blocks.append(_block_of(opened, content, fence.end(), is_nested=is_nested, is_cut=is_cut))
        opened = None
    if opened is not None:
        content = text[opened.end() + 1 :]
        # A fence at the end of the last line closes it as well: "fi```".
        whole = content.rstrip().removesuffix(opened["mark"])
        is_closed = len(whole) < len(content.rstrip()) and not has_open_heredoc(whole)
        language = opened["language"].lower()
        content = f"{whole}\n" if is_closed else content
        blocks.append(Block(opened.start(), len(text), language, content, is_closed=is_closed))
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
    mark, wanted = fence["mark"], opened["mark"]
    bare = not fence["language"] and not fence["before"].strip()
    return bare and mark[0] == wanted[0] and len(mark) >= len(wanted)


def _opens_afresh(fence: re.Match[str], opened: re.Match[str], text: str) -> bool:
    """Whether a fence that names a language shows that the bare fence before it opened nothing."""
    if opened["language"] or not fence["language"] or fence["mark"][0] != opened["mark"][0]:
        return False
    between = text[opened.end() + 1 : fence.start()]
    return not between.lstrip().startswith("#!") and not has_open_heredoc(between)


def _block_of(
    opened: re.Match[str], content: str, end: int, *, is_nested: bool, is_cut: bool
) -> Block:
    indent = len(opened["before"])
    lines = content.split("\n")
    if indent and all(not line[:indent].strip() for line in lines):
        content = "\n".join(line[indent:] for line in lines)
    else:
        indent = 0
    return Block(
        opened.start(),
        end,
        opened["language"].lower(),
        content,
        is_nested=is_nested,
        is_cut=is_cut,
        indent=indent,
    )


def has_open_heredoc(script: str) -> bool:
    """Whether a here-document begins and does not end; quotes and arithmetic are examined line by line."""
    waiting: list[tuple[str, bool]] = []
    for line in script.split("\n"):
        line = line.removesuffix("\r")
        if waiting:
            word, may_be_indented = waiting[0]
            if (line.lstrip("\t") if may_be_indented else line) == word:
                waiting.pop(0)
            continue
        for found in _HEREDOC.finditer(line):
            before = line[: found.start()]
            quoted = before.count('"') % 2 or before.count("'") % 2
            if not quoted and "((" not in before and not before.lstrip().startswith("#"):
                waiting.append((found["word"], bool(found["tabs"])))
    return bool(waiting)
