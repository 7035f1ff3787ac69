"""Chooses the script among several code blocks by what the reply says about them, never by their length."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pipeline.flow.reading.markup import SHELLS, Block
from pipeline.flow.reading.transcripts import strip_prompts


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})", re.IGNORECASE)


_SHEBANG = re.compile(
    r"\s*+(?:#(?!!).*+\n\s*+)*+#!(?=.*[/ ](?:ba|da|z|k|a)?sh\b).*+\n(?:\s*+#.*+\n)*+\s*+[^#\s]"
)
_MARKER = re.compile(r"[^`~\n]{0,20}(?=```|~~~)")
_VERSION = r"(?:\w+ ){0,2}(?:script|version|code|solution|answer)\b"
_CORRECTED = _words(
    rf"correct(?:ed|ion)\b|oops|mistake|(?:is|was|that's) wrong\b|has a (?:bug|problem)\b"
    rf"|(?:fixed|revised) {_VERSION}|(?:use|run) (?:this|the following)(?: \w+)? instead\b"
)
_COMPLETE = _words(
    rf"(?:updated|improved|better|final|complete|full|whole) {_VERSION}|together\b|combined\b"
)
_REJECTED = _words(
    r"(?:original|old|previous|earlier|wrong|incorrect|bad|broken|unsafe|dangerous|first)"
    r" (?:script|version|code|way|approach|attempt|draft|example)\b"
    r"|(?:do not|don't|never) (?:use|run)\b|(?:before|wrong|bad|original|draft)\W*$"
)
# A block after one of these words is an alternative or a fallback, and no step of the script.
_ALTERNATIVE = _words(
    r"(?:or|oder|either|another|instead|methods?|variants?|fails?|undo|roll(?:ing)? ?back|revert)\b"
    r"|alternativ|option|approach|if (?:you|needed|necessary|required|something|anything)\b"
)
_SEVERAL_WAYS = _words(
    r"(?:two|three|four|five|several|multiple|different|few|some|many|various|[2-9]) (?:\w+ )?"
    r"(?:way|option|approache|method|solution|alternative|variant|possibilitie|version|script)s\b"
)
_OUTPUT = _words(
    r"(?:(?:(?:example|sample|expected|typical) )?(?:output|result)s?(?: is| looks like)?"
    r"|(?:should|will|'ll) see.*|(?:prints|returns|shows|displays)(?: something like)?)\W*$"
)
_USAGE = _words(
    r"(?:usage|examples?|executable|to (?:run|use|execute))\b"
    r"|(?:run|execute|call|invoke|use|save|test) (?:it|this|(?:the|your) script)\b"
)
_CALL = r"(?:sudo +)?(?:chmod +\S+ +\S+|(?:ba|z|k)?sh +[\w./~-]+.*|\.{0,2}/\S+.*|[\w-]+\.sh\b.*)"
_CALLS = re.compile(rf"(?:[ \t]*+(?:#.*|{_CALL})?(?:\n|\Z))+")
_NAMES = {name: at for at, name in enumerate(["one", "two", "three", "four", "five", "six"], 1)}
_NAMES |= {
    name: at for at, name in enumerate(["first", "second", "third", "fourth", "fifth", "sixth"], 1)
}
_NUMBER = re.compile(
    rf"^[ \t>*_#(-]*+(?:(?:step|part)[ \t]+(\d{{1,2}}|{'|'.join(_NAMES)})\b"
    rf"|(\d{{1,2}})(?:[.):/]|\ufe0f?\u20e3|[ \t]+[-–—][ \t])|({'|'.join(_NAMES)})\b)",
    re.IGNORECASE | re.MULTILINE,
)


def has_shebang(script: str) -> bool:
    """Whether a text begins with a shell's shebang, perhaps after comments, and contains a command."""
    return _SHEBANG.match(script) is not None


def choose(
    text: str, blocks: Sequence[Block], candidates: Sequence[Block]
) -> tuple[Block | None, str]:
    """The block that is the reply's script, None if the reply does not say which; and a note on the choice."""
    ends = [0, *(block.end for block in blocks)]
    words = {}
    for end, block in zip(ends, blocks, strict=False):
        marker = _MARKER.match(text, block.start)
        words[block.start] = text[end : marker.end() if marker else block.start]
    scripts = [block for block in candidates if has_shebang(block.content)]
    pool = scripts or _without_asides(candidates, words)
    pool = [block for block in pool if not _is_rejected(words[block.start])] or pool
    starts = {block.start for block in candidates}
    others = [block for block in blocks if block.start not in starts]
    if len({block.content.strip() for block in pool}) > 1:
        if not scripts and _are_steps(pool, others, words):
            joined = "\n".join(block.content.rstrip("\n") for block in pool) + "\n"
            return replace(pool[0], content=joined), f"joined from {len(pool)} numbered steps"
        if not is_correction(words[pool[-1].start]):
            return None, f"it holds {len(pool)} code blocks and does not say which is the script"
    elif not scripts and any(_is_step(other, words) and not other.language for other in others):
        return None, "its steps are written in different kinds of code blocks"
    return pool[-1], f"one of {len(blocks)} code blocks" if len(blocks) > 1 else ""


def is_correction(words: str) -> bool:
    """Whether the words before a block say that it replaces the blocks before it."""
    if _CORRECTED.search(words):
        return True
    return _COMPLETE.search(words) is not None and not _ALTERNATIVE.search(words)


def _is_rejected(words: str) -> bool:
    return _REJECTED.search(_last_line(words)) is not None and not is_correction(words)


def _last_line(words: str) -> str:
    return words.rstrip().rpartition("\n")[2][-300:]


def _without_asides(candidates: Sequence[Block], words: dict[int, str]) -> list[Block]:
    """The blocks without outputs, and without calls of the script after it."""
    first, *others = candidates
    kept = [first, *(one for one in others if not _OUTPUT.search(_last_line(words[one.start])))]
    while len(kept) > 1 and not _CALLS.fullmatch(first.content):
        commands = strip_prompts(kept[-1].content) or ""
        if not (_CALLS.fullmatch(commands) and _USAGE.search(words[kept[-1].start])):
            break
        kept.pop()
    return kept


def _numbers(block: Block, words: dict[int, str]) -> list[int]:
    """The numbers of steps before a block, or in the comment on its first line."""
    found = _NUMBER.findall(words[block.start]) or _NUMBER.findall(block.content.split("\n")[0])
    return [_NAMES.get(said.lower()) or int(said) for said in map("".join, found)]


def _is_step(block: Block, words: dict[int, str]) -> bool:
    return bool(_numbers(block, words)) and not _OUTPUT.search(_last_line(words[block.start]))


def _are_steps(pool: Sequence[Block], others: Sequence[Block], words: dict[int, str]) -> bool:
    """Whether the text numbers the blocks one by one, and offers none of them as an alternative."""
    first, *later = pool
    numbers = [_numbers(first, words)[-1:], *(_numbers(block, words) for block in later)]
    languages = {"bash" if one.language in SHELLS[:3] else one.language for one in pool}
    between = [said for at, said in words.items() if first.start < at <= later[-1].start]
    return (
        numbers in ([[at + start] for at in range(len(pool))] for start in (0, 1))
        and len(languages) == 1
        and not any(_is_step(other, words) for other in others)
        and not any(map(_ALTERNATIVE.search, between))
        and not _SEVERAL_WAYS.search(words[first.start])
        and not any(block.is_cut for block in pool)
    )
