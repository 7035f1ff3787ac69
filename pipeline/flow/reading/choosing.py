"""Chooses the script among several code blocks by what the reply says about them, never by their length."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, pairwise

from pipeline.flow.reading.loose import CALLS, SHEBANG
from pipeline.flow.reading.markup import SHELLS, Block
from pipeline.flow.reading.transcripts import strip_prompts

_MOST_BLOCKS = 200


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})", re.IGNORECASE)


_MARKER = re.compile(r"[^`~\n]{0,20}(?=```|~~~)")
_VERSION = r"(?:\w+ ){0,2}(?:script|version|code|solution|answer)\b"
_CORRECTED = _words(
    r"correct(?:ed|ion)\b|let me (?:fix|correct|rewrite)\b|"
    r"oops|mistake|together\b|(?:fix(?:ed)?|improved|final|here's (?:a|the) fix):\W*$|"
    r"(?:complete|full|whole|final|fixed|revised) (?:\w+ )?script\b"
)
# These may also tell what a step is about ("install the fixed version"), so they count only between whole scripts.
_REPLACED = _words(
    rf"(?:correct|fixed|revised|updated|improved|better|final|complete|full|whole) {_VERSION}|combined\b"
    r"|(?:is|was|that's) wrong\b|has a (?:bug|problem)\b|(?:use|run) this(?: \w+)? instead\b"
)
_REJECTED = _words(
    r"(?:(?:original|old|previous|earlier|wrong|incorrect|bad|broken|unsafe|dangerous|first) (?:script|version|code"
    r"|way|approach|attempt|draft|example)|you (?:wrote|posted|sent|provided)(?=\W*$)|original(?=\W*$)"
    r"|(?<!\w )your (?:script|version|code)|(?:do not|don't|never) (?:use|run)|wrong|bad)\b[^.!?\n]{0,60}\W*$"
)
_OFFERED = (
    r"alternativ|option|approach|(?:another|variants?|if (?:you|needed|necessary|required))\b"
)
_OTHER = _words(_OFFERED)
# A block after one of these words is an alternative or a fallback, and no step of the script.
_ALTERNATIVE = _words(
    rf"{_OFFERED}|(?:or|oder|either|(?<!this )(?<!this version )(?<!this script )instead|methods?|fails?|undo"
    r"|roll(?:ing)? ?back|revert|if (?:something|anything)|\d\W+(?:using|via|with|faster|safer|simpler|shorter))\b"
)
_SEVERAL_WAYS = _words(
    r"(?:two|three|four|five|several|multiple|different|few|some|many|various|[2-9]) (?:\w+ )?"
    r"(?:way|option|approache|method|solution|alternative|variant|possibilitie|version|script)s\b"
)
# Offered besides the script, which stays the answer.
_BESIDES = _words(
    r"alternative|another (?:way|option|approach|method)|other (?:way|option)s?\b|optional|variant"
    r"|if you(?:'d|'re| would| are)? (?:also )?(?:want|prefer|like|rather|need|on|using)\b|one-liner|bonus\b|macos\b"
    r"|tests? (?:script |file )?(?:for|of|to)\b|to test\b"
    r"|you (?:can|could|may|might) also\b"
    r"|(?:undo|uninstall|roll(?:ing)? ?back|dry[ -]run|preview|verify|debug|cron\w*|schedul\w+|automat\w+)\b(?!\.)"
)
_OPTION = _words(
    r"(?:option|method|approach|way|solution|version|variant)[ #]*(?:[1-9A-C]|one|first)\b"
)
_ORDERS = (("first", "1", "a", "one"), ("second", "2", "b", "two"), ("third", "3", "c", "three"))
_NUMBERED_OPTION = (
    r"(?:the )?(?:(first|second|third) (?:one|option|method|approach|solution|version|script|variant|way)"
    r"|(?:option|method|approach|solution|version|script|variant) #?([123abc]|one|two|three))\b"
)
_PICKED = _words(
    rf"{_NUMBERED_OPTION} is (?:the )?(?:recommended|preferred|best|better|safest|safer)\b"
    r"|(?<!not )(?<!n't )(?<!never )(?:recommend|suggest|prefer|go with|use|choose|pick)(?:ing)?"
    rf" {_NUMBERED_OPTION}(?! (?:if|when|for|where|only|unless|in)\b)"
)
_RECOMMENDED = re.compile(
    r"(?<!not )(?<!n't )\b(?:recommended|preferred|recommend (?:this|it|using)\b)", re.IGNORECASE
)
# A comment that stands for lines of the script.
_LEFT_OUT = re.compile(
    r"^[ \t]*+#+[ \t]*+(?:\.{3}|…)[ \t]*+(?:$|.{0,40}\b(?:rest|same|unchanged|above|existing|previous"
    r"|before|remaining|other|your)\b)"
    r"|^[ \t]*+#.{0,40}\b(?:rest of (?:the|your)|existing|remaining|previous) (?:\w+ ){0,2}"
    r"(?:script|code|function|logic)s?\b.{0,40}(?:\.{3}|…|unchanged|here|same)",
    re.MULTILINE | re.IGNORECASE,
)
_SETTINGS = re.compile(r"(?:[ \t]*+(?:#.*+|set -.*+|(?:export |readonly )?\w++=.*+)?+(?:\n|\Z))++")
_ASSIGNED = re.compile(r"^[ \t]*+(?:(?:export|readonly|declare(?: -\w+)?) )?(\w++)=", re.MULTILINE)
_USED = re.compile(r"\$\{?(\w++)")
_OF_SCRIPT = r"(?: of (?:it|(?:the|this|your) (?:script|file|code)))?\W*$"
_CONTINUED = _words(
    rf"continu(?:ed|es|ing|ation)\b|cont(?:'d\b|\.)|the (?:rest|remainder|remaining part){_OF_SCRIPT}"
    rf"|(?:(?:part|half) (?:[23]|two|three)[ /of\d]*|(?:second|last|next|main|other) (?:part|half)){_OF_SCRIPT}"
    r"|(?:(?:append|add|paste|put) (?:this|these|it|the (?:following|next)(?! script))\b[^.\n]{0,60}"
    r"\b(?:script|same file|above|below|to it)\b|\b(?:end|bottom) of (?:the|this|that|same))"
    r"(?!.*(?:cron|rc\b|profile|conf|sudoers|fstab|alias|/etc|~/))"
)
_IN_ONE_FILE = _words(r"(?:single|one) (?:file|script)\b|one after (?:the other|another)\b")
_OUTPUT = _words(
    r"(?:(?:output|result)s?(?: is| looks like)?|(?:should|will|'ll) see[^\n]{0,80}"
    r"|(?:prints|returns|shows|displays)(?: something like)?)\W*$"
)
_USAGE = _words(
    r"(?:usage|examples?|executable|to (?:run|use|execute))\b"
    r"|(?:run|execute|call|invoke|use|save|test) (?:it|this|(?:the|your) script)\b"
)
_NAMES = ("one", "two", "three", "four", "five", "first", "second", "third", "fourth", "fifth")
_NUMBER = re.compile(
    rf"^[ \t>*_#(-]*+(?:(?:step|part)[ \t]+(\d{{1,2}}|{'|'.join(_NAMES)})\b"
    rf"|(\d{{1,2}})(?:[.):/]|\ufe0f?\u20e3|[ \t]+[-–—][ \t])|({'|'.join(_NAMES)})\b)",
    re.IGNORECASE | re.MULTILINE,
)


def choose(
    text: str, blocks: Sequence[Block], candidates: Sequence[Block]
) -> tuple[Block | None, str]:
    """The block that is the reply's script, None if the reply does not say which; and a note on the choice."""
    if len(blocks) > _MOST_BLOCKS:
        return None, f"it holds {len(blocks)} code blocks"
    words = {}  # before each block
    for end, block in zip([0, *(block.end for block in blocks)], blocks, strict=False):
        marker = _MARKER.match(text, block.start)
        words[block.start] = text[end : marker.end() if marker else block.start]
    candidates = [block for block in candidates if not _LEFT_OUT.search(block.content)]
    if not candidates:
        return None, "it leaves out parts of the script"
    scripts = [block for block in candidates if SHEBANG.match(block.content)]
    scripts = scripts or [block for block in candidates if block.language == "json"]
    pool = scripts or _without_asides(candidates, words)
    starts = {block.start for block in candidates}
    others = [block for block in blocks if block.start not in starts and _is_step(block, words)]
    steps = pool if not (scripts or others) else []
    if len(scripts) == 1:
        shells = [block for block in blocks if block in scripts or block.language in ("", *SHELLS)]
        steps = _parts(_without_asides(shells, words), text)
    if len(steps) > 1 and _are_steps(steps, words):
        return _joined(steps), f"joined from {len(steps)} numbered steps"
    if (parts := _continued(blocks, words)) and all(block in parts for block in scripts):
        return _joined(parts), f"joined from {len(parts)} parts"
    if not scripts and any(not block.language for block in others):
        return None, "its steps are written in different kinds of code blocks"
    for block in scripts:
        said = words[block.start]
        if len(pool) > 1 and _REJECTED.search(said[-300:]) and not is_correction(said):
            pool = [other for other in pool if other is not block]
    pool = _recommended(pool, words, text) or _without_alternatives(pool, words)
    is_one = len({block.content.strip() for block in pool}) == 1
    if not is_one and not is_correction(words[pool[-1].start], of_scripts=bool(scripts)):
        return None, f"it holds {len(pool)} code blocks and does not say which is the script"
    are_parts = parts or (steps and len(_without_alternatives(steps, words)) > 1)
    if len(blocks) > 1 and (
        (len(scripts) == 1 and are_parts) or _SETTINGS.fullmatch(pool[-1].content)
    ):
        return None, "its code blocks are parts that it does not number"
    return pool[-1], f"one of {len(blocks)} code blocks" if len(blocks) > 1 else ""


def _continued(blocks: Sequence[Block], words: dict[int, str]) -> list[Block]:
    """The blocks that the words before them join to the block before."""
    shells = [block for block in blocks if block.language in ("", *SHELLS)]
    ats = [
        at
        for at, block in enumerate(shells)
        if at and _CONTINUED.search(_lead(words[block.start]))
        if not (SHEBANG.match(block.content) or CALLS.fullmatch(block.content))
    ]
    return shells[ats[0] - 1 : ats[-1] + 1] if ats else []


def _joined(parts: Sequence[Block]) -> Block:
    return replace(parts[0], content="\n".join(one.content.rstrip("\n") for one in parts) + "\n")


def _parts(blocks: list[Block], text: str) -> list[Block]:
    """The blocks if only the first has a shebang and the others continue its script."""
    names: set[str] = set()
    depend = True
    for block, later in pairwise(blocks):
        names.update(_ASSIGNED.findall(block.content))
        depend = depend and not names.isdisjoint(_USED.findall(later.content))
    is_whole = SHEBANG.match(blocks[0].content) and (depend or _IN_ONE_FILE.search(text))
    return blocks if is_whole else []


def _recommended(pool: Sequence[Block], words: dict[int, str], text: str) -> list[Block]:
    """The one option that the reply recommends, in the words before it or by its number."""
    picks = {pick.lower() for pick in chain(*_PICKED.findall(text)) if pick}
    said = {at for at, names in enumerate(_ORDERS) if not picks.isdisjoint(names)}
    said |= {at for at, one in enumerate(pool) if _RECOMMENDED.search(_lead(words[one.start]))}
    return [block for at, block in enumerate(pool) if {at} == said] if len(pool) > 1 else []


def _lead(words: str) -> str:
    """The last line before a block, and the line right before it."""
    return "\n".join(words.rstrip("`~ \n").rsplit("\n", 2)[-2:])[-1000:]


def _without_alternatives(pool: Sequence[Block], words: dict[int, str]) -> list[Block]:
    """The blocks without quotations of the first, and without what the text offers besides it."""
    first, *others = pool
    whole, said = first.content.strip(), words[first.start]
    is_choice = _SEVERAL_WAYS.search(said) or _OPTION.search(said)
    kept = [first]
    for block in others:
        quoted, lead = block.content.strip(), _lead(words[block.start])
        is_new = is_correction(words[block.start]) or _REPLACED.search(lead)
        is_quotation = quoted in whole and quoted != whole
        if is_new or not (is_quotation or (_BESIDES.search(lead) and not is_choice)):
            kept.append(block)
    return kept


def is_correction(words: str, *, of_scripts: bool = True) -> bool:
    """Whether the words before a block say that it replaces the blocks before it."""
    if _OTHER.search(words):
        return False
    is_said = of_scripts and _REPLACED.search(words) and not _ALTERNATIVE.search(words)
    return bool(_CORRECTED.search(words) or is_said)


def _without_asides(candidates: Sequence[Block], words: dict[int, str]) -> list[Block]:
    """The blocks without outputs, and without calls of the script after it."""
    first, *others = candidates
    kept = [first, *(block for block in others if not _OUTPUT.search(words[block.start][-300:]))]
    while len(kept) > 1 and _is_call(kept[-1], words) and not CALLS.fullmatch(first.content):
        kept.pop()
    return kept


def _is_call(block: Block, words: dict[int, str]) -> bool:
    commands = strip_prompts(block.content)
    is_call = commands is not None and CALLS.fullmatch(commands)
    return bool(is_call and _USAGE.search(words[block.start]))


def _is_step(block: Block, words: dict[int, str]) -> bool:
    is_output = _OUTPUT.search(words[block.start][-300:])
    return bool(_numbers(block, words)) and not (is_output or _is_call(block, words))


def _numbers(block: Block, words: dict[int, str]) -> list[int]:
    """The numbers of steps before a block, or in the comment on its first line."""
    found = _NUMBER.findall(words[block.start]) or _NUMBER.findall(block.content.split("\n")[0])
    said = ["".join(groups).lower() for groups in found]
    return [_NAMES.index(one) % 5 + 1 if one in _NAMES else int(one) for one in said]


def _are_steps(pool: Sequence[Block], words: dict[int, str]) -> bool:
    """Whether the text numbers the blocks one by one, and offers none of them as an alternative."""
    first, last = pool[0].start, pool[-1].start
    numbers = [_numbers(pool[0], words)[-1:], *(_numbers(block, words) for block in pool[1:])]
    return (
        numbers in ([[at + start] for at in range(len(pool))] for start in (0, 1))
        and len({"bash" if one.language in SHELLS[:3] else one.language for one in pool}) == 1
        and not any(_ALTERNATIVE.search(words[at]) for at in words if first < at <= last)
        and not _SEVERAL_WAYS.search(words[first])
    )
