"""Chooses the script among several code blocks by what the reply says about them, never by their length."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pipeline.flow.reading.markup import SHELLS, Block, has_open_heredoc


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})", re.IGNORECASE)


# A shell's shebang, perhaps after comments, and a command.
SHEBANG = re.compile(
    r"\s*+(?:#(?!!).*+\n\s*+)*+#!(?=.*[/ ](?:ba|da|z|k|a)?sh\b).*+\n(?:\s*+#.*+\n)*+\s*+[^#\s]"
)
_SHEBANG_LINE = re.compile(r"^#!.*sh\b", re.MULTILINE)
_MARKER = re.compile(r"[^`~\n]{0,20}(?=```|~~~)")
_VERSION = r"(?:\w+ ){0,2}(?:script|version|code|solution|answer)\b"
_CORRECTED = _words(
    r"correct(?:ed|ion)\b|oops|mistake|together\b|(?:complete|full|whole|final|fixed|revised) (?:\w+ )?script\b"
)
# These may also tell what a step is about ("install the fixed version"), so they count only between whole scripts.
_REPLACED = _words(
    rf"(?:fixed|revised|updated|improved|better|final|complete|full|whole) {_VERSION}|combined\b"
    r"|(?:is|was|that's) wrong\b|has a (?:bug|problem)\b|(?:use|run) this(?: \w+)? instead\b"
)
_REJECTED = _words(
    r"(?:(?:original|old|previous|earlier|wrong|incorrect|bad|broken|unsafe|dangerous|first) (?:script|version|code"
    r"|way|approach|attempt|draft|example)|(?:do not|don't|never) (?:use|run)|wrong|bad)\b[^.!?\n]{0,60}\W*$"
)
_OFFERED = (
    r"alternativ|option|approach|(?:another|variants?|if (?:you|needed|necessary|required))\b"
)
_OTHER = _words(_OFFERED)
# A block after one of these words is an alternative or a fallback, and no step of the script.
_ALTERNATIVE = _words(
    rf"{_OFFERED}|(?:or|oder|either|(?<!this )instead|methods?|fails?|undo|roll(?:ing)? ?back|revert"
    r"|if (?:something|anything)|\d\W+(?:using|via|with|faster|safer|simpler|shorter))\b"
)
_SEVERAL_WAYS = _words(
    r"(?:two|three|four|five|several|multiple|different|few|some|many|various|[2-9]) (?:\w+ )?"
    r"(?:way|option|approache|method|solution|alternative|variant|possibilitie|version|script)s\b"
)
_OUTPUT = _words(
    r"(?:(?:output|result)s?(?: is| looks like)?|(?:should|will|'ll) see[^\n]{0,80}"
    r"|(?:prints|returns|shows|displays)(?: something like)?)\W*$"
)
_USAGE = _words(
    r"(?:usage|examples?|executable|to (?:run|use|execute))\b"
    r"|(?:run|execute|call|invoke|use|save|test) (?:it|this|(?:the|your) script)\b"
)
_CALL = r"(?:sudo +)?(?:chmod +\S|(?:ba|z|k)?sh +[\w./~]|\.{0,2}/\S|[\w-]++\.sh\b).*+"
_CALLS = re.compile(rf"(?:[ \t]*+(?:#.*+|{_CALL})?+(?:\n|\Z))++")
_NAMES = ("one", "two", "three", "four", "five", "first", "second", "third", "fourth", "fifth")
_NUMBER = re.compile(
    rf"^[ \t>*_#(-]*+(?:(?:step|part)[ \t]+(\d{{1,2}}|{'|'.join(_NAMES)})\b"
    rf"|(\d{{1,2}})(?:[.):/]|\ufe0f?\u20e3|[ \t]+[-–—][ \t])|({'|'.join(_NAMES)})\b)",
    re.IGNORECASE | re.MULTILINE,
)
_PROMPT = re.compile(r"[ \t]*(?:\[?[\w.-]+@[\w.-]+[: ][^\n$#]{0,80}[$#]|[$%])(?:[ \t]+|$)")
_ROOT = re.compile(r"(?:[ \t]*+(?:# .*+)?+(?:\n|\Z))++")


def choose(
    text: str, blocks: Sequence[Block], candidates: Sequence[Block]
) -> tuple[Block | None, str]:
    """The block that is the reply's script, None if the reply does not say which; and a note on the choice."""
    words = {}  # before each block
    for end, block in zip([0, *(block.end for block in blocks)], blocks, strict=False):
        marker = _MARKER.match(text, block.start)
        words[block.start] = text[end : marker.end() if marker else block.start]
    scripts = [block for block in candidates if SHEBANG.match(block.content)]
    scripts = scripts or [block for block in candidates if block.language == "json"]
    if not scripts and _SHEBANG_LINE.search("".join(words.values()) + text[blocks[-1].end :]):
        return None, "the script is not in a code block, and others are"
    pool = scripts or _without_asides(candidates, words)
    starts = {block.start for block in candidates}
    others = [block for block in blocks if block.start not in starts and _is_step(block, words)]
    if not (scripts or others) and len(pool) > 1 and _are_steps(pool, words):
        joined = "\n".join(block.content.rstrip("\n") for block in pool) + "\n"
        return replace(pool[0], content=joined), f"joined from {len(pool)} numbered steps"
    if not scripts and any(not block.language for block in others):
        return None, "its steps are written in different kinds of code blocks"
    for block in scripts:
        said = words[block.start]
        if len(pool) > 1 and _REJECTED.search(said[-300:]) and not is_correction(said):
            pool = [other for other in pool if other is not block]
    is_one = len({block.content.strip() for block in pool}) == 1
    if not is_one and not is_correction(words[pool[-1].start], of_scripts=bool(scripts)):
        return None, f"it holds {len(pool)} code blocks and does not say which is the script"
    return pool[-1], f"one of {len(blocks)} code blocks" if len(blocks) > 1 else ""


def is_correction(words: str, *, of_scripts: bool = True) -> bool:
    """Whether the words before a block say that it replaces the blocks before it."""
    if _OTHER.search(words):
        return False
    is_said = of_scripts and _REPLACED.search(words) and not _ALTERNATIVE.search(words)
    return bool(_CORRECTED.search(words) or is_said)


def strip_prompts(script: str, *, is_console: bool = False) -> str | None:
    """The commands of a transcript without prompts; None if only some lines have one, as next to outputs.

    A script may begin with comments, so only a console's lines may all have the prompt `# `.
    """
    if is_console and _ROOT.fullmatch(script):
        return re.sub(r"(?m)^[ \t]*# ", "", script)
    kept: list[str] = []
    command = ""  # the line that the next one may continue
    for line in script.splitlines(keepends=True):
        prompt = _PROMPT.match(line.rstrip("\r\n"))
        if has_open_heredoc(command):
            line = line.removeprefix("> ")
            command = command if has_open_heredoc(f"{command}{line.rstrip()}") else line
        elif command.rstrip("\r\n").endswith("\\") or (command and line.startswith("> ")):
            command = line = line.removeprefix("> ")
        elif prompt:
            command = line = line[prompt.end() :]
        elif line.strip() and not line.lstrip().startswith("#"):
            return None if command or (is_console and "".join(kept).strip()) else script
        kept.append(line)
    return "".join(kept)


def _without_asides(candidates: Sequence[Block], words: dict[int, str]) -> list[Block]:
    """The blocks without outputs, and without calls of the script after it."""
    first, *others = candidates
    kept = [first, *(block for block in others if not _OUTPUT.search(words[block.start][-300:]))]
    while len(kept) > 1 and _is_call(kept[-1], words) and not _CALLS.fullmatch(first.content):
        kept.pop()
    return kept


def _is_call(block: Block, words: dict[int, str]) -> bool:
    commands = strip_prompts(block.content)
    is_call = commands is not None and _CALLS.fullmatch(commands)
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
        and not any(block.is_cut for block in pool)
    )
