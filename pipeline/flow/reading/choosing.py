"""Choose the script among multiple code blocks based on the reply's text about them, never on their length."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, pairwise

from pipeline.flow.reading.loose import SHEBANG, is_command
from pipeline.flow.reading.markup import PLAIN, SHELLS, STRING, Block
from pipeline.flow.reading.phrases import consists_of, pattern, says
from pipeline.flow.reading.transcripts import strip_prompts

_MOST_BLOCKS = 200
_ASSIGNED = re.compile(r"^[ \t]*+(?:(?:export|readonly|declare(?: -\w+)?) )?(\w++)=", re.MULTILINE)
_USED = re.compile(r"\$\{?(\w++)")
_NAMES = re.findall(r"\w+", "one two three four five first second third fourth fifth a b c d e")


def choose(
    text: str, blocks: Sequence[Block], candidates: Sequence[Block]
) -> tuple[Block | None, str]:
    """Return the block with the reply's script, or None if that is unclear, and a note on the choice."""
    if len(blocks) > _MOST_BLOCKS:
        return None, f"it contains {len(blocks)} code blocks"
    starts = {block.start for block in candidates if not says(block.content, "left out")}
    if not starts:
        return None, "it omits parts of the script"
    ends = [0, *(block.end for block in blocks)]
    blocks = [
        replace(block, words=text[end : block.start])
        for end, block in zip(ends, blocks, strict=False)
    ]
    candidates = [block for block in blocks if block.start in starts]
    candidates = [block for block in candidates if not says(block.lead, "forbidden")]
    if not candidates:
        return None, "it warns against its script"
    scripts = [block for block in candidates if SHEBANG.match(block.content)]
    scripts = scripts or [block for block in candidates if block.language == STRING]
    pool = parts = _without_asides(scripts or candidates)
    if scripts:
        shells = [block for block in blocks if block in scripts or block.language in ("", *SHELLS)]
        parts = _parts_of(scripts, _without_asides(shells), text)
    steps = [block for block in blocks if _numbers(block) and not _is_aside(block)]
    is_whole = bool(scripts) or all(one in candidates or _is_sample(one, pool) for one in steps)
    if len(parts) > 1 and is_whole and _are_in_order(parts, blocks):
        whole = "\n".join(block.content.rstrip("\n") for block in parts) + "\n"
        return replace(parts[0], content=whole), f"joined from {len(parts)} steps"
    if len(parts) > 1 and scripts:
        return None, "its code blocks are unnumbered parts"
    if not is_whole:
        return None, "its steps are in different kinds of code blocks"
    plain = [one for one in blocks if one not in candidates and one.language in PLAIN]
    pool += [one for one in plain if not scripts and _is_rival(one) and is_command(one.content)]
    pool = _recommended(pool, text) or pool
    is_one = len({block.content.strip() for block in pool}) == 1
    if not is_one and not is_correction(pool[-1].words, of_scripts=bool(scripts)):
        return None, f"it contains {len(pool)} code blocks and does not say which is the script"
    return pool[-1], f"one of {len(blocks)} code blocks" if len(blocks) > 1 else ""


def is_correction(words: str, *, of_scripts: bool = True) -> bool:
    """Return whether the text before a block says that the block replaces the previous blocks."""
    if says(words, "alternative"):
        return False
    is_replaced = of_scripts and says(words, "replacement") and not says(words, "choice")
    return is_replaced or says(words, "correction")


def _parts_of(scripts: Sequence[Block], blocks: list[Block], text: str) -> list[Block]:
    """Return the blocks if only the first has a shebang and the others continue it or use its variables."""
    if len(scripts) > 1 or not SHEBANG.match(blocks[0].content):
        return []
    names: set[str] = set()
    depend = says(text, "one file") or any(says(one.lead, "continued") for one in blocks[1:])
    for block, later in pairwise(blocks):
        names.update(_ASSIGNED.findall(block.content))
        if not depend and names.isdisjoint(_USED.findall(later.content)):
            return []
    return blocks


def _is_aside(block: Block) -> bool:
    """Return whether a block shows output or an invocation of the script."""
    commands = strip_prompts(block.content)
    is_call = commands and consists_of(commands, "comment", "call") and says(block.words, "usage")
    return bool(is_call or says(block.lead, "output"))


def _is_rival(block: Block) -> bool:
    """Return whether a block is an alternative to the script, according to the text before the block."""
    return not SHEBANG.match(block.content) and says(block.lead, "rival") and not _is_aside(block)


def _is_sample(block: Block, steps: Sequence[Block]) -> bool:
    """Return whether a block is a configuration file between the steps. It may be part of a step."""
    is_config = pattern("config").fullmatch(block.language) is not None
    return is_config and steps[0].start < block.start < steps[-1].start


def _is_rejected(block: Block) -> bool:
    is_earlier = SHEBANG.match(block.content) and says(block.lead, "earlier")
    return (is_earlier or says(block.lead, "rejected")) and not is_correction(block.words)


def _without_asides(pool: Sequence[Block]) -> list[Block]:
    """Return the first block, and all others except output, invocations, quotations, asides and rejected blocks."""
    first, *others = pool
    whole, kept = first.content.strip(), [first]
    for block in others:
        quoted = block.content.strip()
        is_new = is_correction(block.words) or says(block.lead, "replacement") or _is_rival(block)
        is_step = _numbers(first) and _numbers(block) and not SHEBANG.match(block.content)
        is_besides = says(block.lead, "aside") and not (is_step or says(first.words, "ways"))
        is_quotation = quoted in whole and quoted != whole
        if is_new or not (is_besides or is_quotation or _is_aside(block)):
            kept.append(block)
    wrong = [block for block in kept if _is_rejected(block)]
    return [block for block in kept if block not in wrong] or kept


def _recommended(pool: Sequence[Block], text: str) -> list[Block]:
    """Return the block that the reply recommends by name or in the text before it, or an empty list."""
    names = [name.lower() for name in chain(*pattern("picked").findall(text)) if name]
    picks = {(int(one) - 1 if one.isdecimal() else _NAMES.index(one)) % 5 for one in names}
    picks |= {at for at, block in enumerate(pool) if says(block.lead, "recommended")}
    return [block for at, block in enumerate(pool) if {at} == picks] if len(pool) > 1 else []


def _numbers(block: Block) -> list[int]:
    """Return the step numbers in the text before a block or, if it has none, in the block's first line."""
    found = pattern("number").findall(block.words) or pattern("number").findall(
        block.content.split("\n")[0]
    )
    said = ["".join(groups).lower() for groups in found]
    return [_NAMES.index(one) % 5 + 1 if one in _NAMES else int(one) for one in said]


def _are_in_order(parts: Sequence[Block], blocks: Sequence[Block]) -> bool:
    """Return whether the text presents the parts as consecutive steps, and no part as an alternative."""
    first, *others = parts
    shown = [block for block in blocks if block in parts or _is_sample(block, parts)]
    found = [_numbers(first)[-1:], *(_numbers(block) for block in shown[1:])]
    numbers = list(chain(*found))
    is_numbered = numbers in [list(range(at, at + len(numbers))) for at in (0, 1)] and all(
        # A JSON object is not a code block, but it may be a step.
        int(block in parts) <= len(said) <= 1 + block.words.count("\n```") // 2
        for block, said in zip(shown, found, strict=True)
    )
    return (
        (is_numbered or all(says(block.lead, "continued") for block in others))
        and len({"bash" if one.language in SHELLS[:3] else one.language for one in parts}) == 1
        and not says(first.words, "ways")
        and not any(
            says(block.words, "alternative", "choice")
            for block in blocks
            if first.start < block.start <= parts[-1].start
        )
    )
