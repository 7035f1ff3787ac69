"""Chooses the script among several code blocks by what the reply says about them, never by their length."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from pipeline.flow.reading.loose import CALLS, SHEBANG
from pipeline.flow.reading.markup import SHELLS, STRING, Block
from pipeline.flow.reading.phrases import says
from pipeline.flow.reading.transcripts import strip_prompts

_MOST_BLOCKS = 200
_ASSIGNED = re.compile(r"^[ \t]*+(?:(?:export|readonly|declare(?: -\w+)?) )?(\w++)=", re.MULTILINE)
_USED = re.compile(r"\$\{?(\w++)")
_ORDINAL = "first|second|third|fourth|fifth"
_WORDS = f"one|two|three|four|five|{_ORDINAL}"
_NAMES = f"{_WORDS}|a|b|c|d|e".split("|")
_NUMBER = re.compile(
    rf"^[ \t>*_#(-]*+(?:(?:step|part)[ \t]+(\d{{1,2}}|{_WORDS})\b"
    rf"|(\d{{1,2}})(?:[.):/]|\ufe0f?\u20e3|[ \t]+[-–—][ \t])|({_WORDS})\b)",
    re.IGNORECASE | re.MULTILINE,
)
_KIND = "(?:option|method|approach|solution|version|script|variant)"
_OPTION = rf"(?:the )?(?:({_ORDINAL}) (?:one|way|{_KIND})|{_KIND} #?([1-5a-e]|one|two|three))\b"
_PICKED = re.compile(
    rf"\b{_OPTION} is (?:the )?(?:recommended|preferred|best|better|safest|safer)\b"
    r"|(?<!not )(?<!n't )(?<!never )\b(?:recommend|suggest|prefer|go with|use|choose|pick)(?:ing)?"
    rf" {_OPTION}(?! (?:if|when|for|where|only|unless|in)\b)",
    re.IGNORECASE,
)


def choose(
    text: str, blocks: Sequence[Block], candidates: Sequence[Block]
) -> tuple[Block | None, str]:
    """The block that is the reply's script, None if the reply does not say which; and a note on the choice."""
    if len(blocks) > _MOST_BLOCKS:
        return None, f"it holds {len(blocks)} code blocks"
    starts = {block.start for block in candidates if not says(block.content, "left out")}
    if not starts:
        return None, "it leaves out parts of the script"
    ends = [0, *(block.end for block in blocks)]
    blocks = [
        replace(block, words=text[end : block.start])
        for end, block in zip(ends, blocks, strict=False)
    ]
    candidates = [block for block in blocks if block.start in starts]
    others = [block for block in blocks if block.start not in starts and _is_step(block)]
    scripts = [block for block in candidates if SHEBANG.match(block.content)]
    scripts = scripts or [block for block in candidates if block.language == STRING]
    shells = [block for block in blocks if block in scripts or block.language in ("", *SHELLS)]
    pool = scripts or _without_asides(candidates)
    steps = [] if scripts or others else pool
    if len(scripts) == 1 and _depend(parts := _without_asides(shells), text):
        steps = parts
    if len(steps) > 1 and _are_steps(steps, blocks):
        return _joined(steps), f"joined from {len(steps)} numbered steps"
    parts = _continued(shells)
    if parts and all(block in parts for block in scripts):
        return _joined(parts), f"joined from {len(parts)} parts"
    if not scripts and any(not block.language for block in others):
        return None, "its steps are written in different kinds of code blocks"
    if scripts:
        pool = [block for block in pool if not _is_rejected(block)] or pool[-1:]
    pool = _recommended(pool, text) or _without_alternatives(pool)
    is_one = len({block.content.strip() for block in pool}) == 1
    if not is_one and not is_correction(pool[-1].words, of_scripts=bool(scripts)):
        return None, f"it holds {len(pool)} code blocks and does not say which is the script"
    are_parts = len(scripts) == 1 and (parts or (steps and len(_without_alternatives(steps)) > 1))
    if are_parts:
        return None, "its code blocks are parts that it does not number"
    return pool[-1], f"one of {len(blocks)} code blocks" if len(blocks) > 1 else ""


def is_correction(words: str, *, of_scripts: bool = True) -> bool:
    """Whether the words before a block say that it replaces the blocks before it."""
    if says(words, "alternative"):
        return False
    is_replaced = of_scripts and says(words, "replacement") and not says(words, "choice")
    return is_replaced or says(words, "correction")


def _joined(parts: Sequence[Block]) -> Block:
    return replace(parts[0], content="\n".join(one.content.rstrip("\n") for one in parts) + "\n")


def _continued(shells: Sequence[Block]) -> list[Block]:
    """The blocks that the words before them join to the block before."""
    ats = [
        at
        for at, block in enumerate(shells)
        if at and says(block.lead, "continued")
        if not (SHEBANG.match(block.content) or CALLS.fullmatch(block.content))
    ]
    return list(shells[ats[0] - 1 : ats[-1] + 1]) if ats else []


def _depend(parts: Sequence[Block], text: str) -> bool:
    """Whether the blocks after one with a shebang continue it: they use its variables, or the text says so."""
    names: set[str] = set()
    for block in parts:
        if names.isdisjoint(_USED.findall(block.content)) and block is not parts[0]:
            return says(text, "one file")
        names.update(_ASSIGNED.findall(block.content))
    return SHEBANG.match(parts[0].content) is not None


def _is_rejected(block: Block) -> bool:
    return says(block.lead, "rejected") and not is_correction(block.words)


def _recommended(pool: Sequence[Block], text: str) -> list[Block]:
    """The one option that the reply recommends, in the words before it or by its number."""
    names = [name.lower() for name in chain(*_PICKED.findall(text)) if name]
    picks = {(int(one) - 1 if one.isdecimal() else _NAMES.index(one)) % 5 for one in names}
    picks |= {at for at, block in enumerate(pool) if says(block.lead, "recommended")}
    return [block for at, block in enumerate(pool) if {at} == picks] if len(pool) > 1 else []


def _without_alternatives(pool: Sequence[Block]) -> list[Block]:
    """The blocks without quotations of the first, and without what the text offers besides it."""
    first, *others = pool
    whole = first.content.strip()
    kept = [first]
    for block in others:
        quoted = block.content.strip()
        is_aside = says(block.lead, "aside") and not says(first.words, "ways")
        is_new = is_correction(block.words) or says(block.lead, "replacement")
        if is_new or not (is_aside or (quoted in whole and quoted != whole)):
            kept.append(block)
    return kept


def _without_asides(candidates: Sequence[Block]) -> list[Block]:
    """The blocks without outputs, and without calls of the script after it."""
    first, *others = candidates
    kept = [first, *(block for block in others if not says(block.lead, "output"))]
    while len(kept) > 1 and _is_call(kept[-1]) and not CALLS.fullmatch(first.content):
        kept.pop()
    return kept


def _is_call(block: Block) -> bool:
    commands = strip_prompts(block.content)
    return bool(commands and CALLS.fullmatch(commands) and says(block.words, "usage"))


def _is_step(block: Block) -> bool:
    return bool(_numbers(block)) and not (says(block.lead, "output") or _is_call(block))


def _numbers(block: Block) -> list[int]:
    """The numbers of steps before a block, or in the comment on its first line."""
    found = _NUMBER.findall(block.words) or _NUMBER.findall(block.content.split("\n")[0])
    said = ["".join(groups).lower() for groups in found]
    return [_NAMES.index(one) % 5 + 1 if one in _NAMES else int(one) for one in said]


def _are_steps(pool: Sequence[Block], blocks: Sequence[Block]) -> bool:
    """Whether the text numbers the blocks one by one, and offers none of them as an alternative."""
    first, last = pool[0], pool[-1]
    numbers = [_numbers(first)[-1:], *(_numbers(block) for block in pool[1:])]
    return (
        numbers in ([[at + start] for at in range(len(pool))] for start in (0, 1))
        and len({"bash" if one.language in SHELLS[:3] else one.language for one in pool}) == 1
        and not says(first.words, "ways")
        and not any(
            says(block.words, "alternative", "choice")
            for block in blocks
            if first.start < block.start <= last.start
        )
    )
