"""Find scripts outside code fences: text with a shebang, or the only command in a reply."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice, takewhile

from catalog.analysis import UnreadableScript, analyse_static
from pipeline.flow.reading.markup import Block
from pipeline.flow.reading.phrases import consists_of, pattern, says
from pipeline.flow.reading.transcripts import is_complete, strip_prompts

_MOST_ENDS = 40
_MOST_SCRIPTS = 10
_LONGEST_WITHOUT_SHEBANG = 20_000
_LONGEST = 100_000  # characters of a script that is followed by prose
# A shell's shebang, optionally after comments, followed by a command.
SHEBANG = re.compile(
    r"\s*+(?:#(?!!).*+\n\s*+)*+#!(?=.*[/ ](?:ba|da|z|k|a)?sh\b).*+\n(?:\s*+#.*+\n)*+\s*+[^#\s]"
)
SHEBANG_LINE = re.compile(r"^([ \t]*+)#!.*sh\b", re.MULTILINE)
_OPERATOR = re.compile(r"[$|;&<>=#\"]|(?<!\S)--?\w")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|(?<!\S)#.*")
_COMMAND = re.compile(
    r"(?:\s*+#[^\n]*+\n)*+\s*+(?:\w++(?:=[^\n]*+| ?\(\) *+\{)\n\s*+)*+"
    r"(?:sudo +)?[a-z][\w.+-]*+ (?:.* )?(?:--?[a-zA-Z0-9]|\||>|[~.]?/|[\"'$*]|\S+[:/]).*",
    re.DOTALL,
)
_FUNCTION = re.compile(r"\b(\w++)[ \t]*+\(\)")
_LINE = re.compile(r"^.+$", re.MULTILINE)
_WORD = re.compile(r"(?!(?:echo|printf|logger|wall)\b)[A-Za-z][\w'’-]*[,:.!]?")
_CLOSES = re.compile(r"[ \t]*(?:(?:fi|done|esac|EOF)\b|\})")
_TRAILING_HEADINGS = re.compile(r"(?:\n[ \t]*(?:#{2,6} .*)?)+\Z")
_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)(?:(?:bash|sh) )?([^`\n]+)\1(?!`)")


def with_loose_scripts(text: str, blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks and, if no closed block has a shebang, the scripts with a shebang outside the blocks.

    A block without a closing fence counts as closed if its script has a shebang and is complete.
    """
    closed = [block if block.is_closed else _closed(block) for block in blocks]
    if any(block.is_closed and SHEBANG.match(block.content) for block in closed):
        return closed
    found: list[Block] = []
    starts = [0, *(block.end for block in blocks)]
    ends = [*(block.start for block in blocks), len(text)]
    for start, end in zip(starts, ends, strict=True):
        while len(found) < _MOST_SCRIPTS and (line := SHEBANG_LINE.search(text, start, end)):
            before = text[start : line.start()]
            begin = start if is_only_comments(before) and not _has_prose(before) else line.start()
            region = text[begin:end]
            if indent := line[1]:  # the script is in an indented block of Markdown or YAML
                lines = takewhile(
                    lambda one: one.startswith((indent, "\n")), region.splitlines(True)
                )
                region = "".join(one.removeprefix(indent) for one in lines).rstrip() + "\n"
            is_whole = not (text[:begin].strip() or _has_prose(region))
            script, length = (region.lstrip(), end - begin) if is_whole else before_prose(region)
            start = end if indent or not script else begin + length
            found.append(Block(begin, start, "", script, is_closed=bool(script)))
    return sorted([*closed, *found], key=lambda block: block.start)


def is_only_comments(script: str) -> bool:
    """Return whether a script contains only comments, or only prints an apology."""
    prints = ("print",) if says(script, "apology") else ()
    return consists_of(script, "comment", *prints)


def _closed(block: Block) -> Block:
    """Return the block, marked as closed if its script is complete and the last line was not truncated."""
    script, length = before_prose(block.content)
    before, _newline, last = script.rpartition("\n")
    is_end = not last or (_CLOSES.match(last) and not is_complete(before))
    is_short = length == len(block.content) and not is_end
    return block if is_short or not script else replace(block, content=script, is_closed=True)


def before_prose(text: str) -> tuple[str, int]:
    """Return the complete script before the first prose or markup in a text, and its length there, or "" and 0."""
    for end in [*islice(_ends(text), _MOST_ENDS), len(text)] if len(text) < _LONGEST else ():
        script = text[:end]
        if SHEBANG.match(script) and is_complete(script):
            if any(is_command(run) for _, run in _runs(text[end:])):
                break
            if end < len(text):
                script = _TRAILING_HEADINGS.sub("", script.rstrip()) + "\n"
            return script, end
    return "", 0


def _ends(text: str) -> Iterator[int]:
    """Return the start positions of prose and markup lines, except lines that call a function of the script."""
    shebang = SHEBANG_LINE.search(text)
    lines = _LINE.finditer(text, shebang.end() if shebang else 0)
    names = set(_FUNCTION.findall(text))
    prose = (line for line in lines if _is_prose(line[0]))
    return (line.start() for line in prose if line[0].split(" ")[0] not in names)


def _has_prose(text: str) -> bool:
    return next(_ends(text), None) is not None


def is_words(text: str) -> bool:
    """Return whether each nonblank line of a text is a sentence."""
    return all(_is_sentence(line) for line in text.split("\n") if line.strip())


def _is_prose(line: str) -> bool:
    return pattern("markup").match(line.lstrip(" \t")) is not None or _is_sentence(line)


def _is_sentence(line: str) -> bool:
    """Return whether a line is a sentence and not a command."""
    head, tail = _CODE.sub("code", line[:400]).strip(" \t*_>"), line[-20:].rstrip(" \t\r*_)`")
    words = head.split()
    if len(words) < 3 or not _WORD.fullmatch(words[0]):
        return False
    is_sentence = tail.endswith((".", ":", "!", "?"))
    if words[0][0].isupper():
        return is_sentence or says(head, "sentence")
    return is_sentence and len(words) > 3 and says(head, "sentence") and not _OPERATOR.search(head)


def lone_command(text: str) -> str:
    """Return the only text that is clearly a command in a reply without code blocks, or an empty string."""
    if len(text) > _LONGEST_WITHOUT_SHEBANG:
        return ""
    found = {run for before, run in _runs(text) if is_command(run) and not says(before, "warning")}
    if not found and "?" not in text:
        codes = [
            (line[: code.start()].strip(" *>+-"), code[2])
            for line in text.split("\n")
            if not says(line, "warning")
            for code in _CODE.finditer(line)
            if is_command(code[2])
        ]
        found = {code for lead, code in codes if not lead or says(lead, "offer")}
        found = {code for code in found if all(other in code for _, other in codes)}
    return found.pop() if len(found) == 1 else ""


def is_plainly_bash(script: str, language: str) -> bool:
    """Return whether a block in another language is a shell script, based on its shebang or known commands."""
    if not is_complete(script):
        return False
    with suppress(UnreadableScript):
        report = analyse_static(script.replace("#!", "# ", 1))
        codes = {finding.code for finding in report.findings}
        is_odd = "unknown_command" in codes or pattern("like bash").fullmatch(language)
        is_known = not is_odd and says(script, "bash") and is_command(script)
        is_bash = is_known or SHEBANG.match(script) is not None
        return is_bash and codes.isdisjoint(("dialect", "too_complex"))
    return False


def _runs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the line before each part of a text between prose and markup lines, and the part itself."""
    before, run = "", ""
    for line in [*text.splitlines(keepends=True), "- end"]:
        if not _is_prose(line):
            run += line
        else:
            yield before, run.strip("\n")
            before, run = line, ""


def is_command(text: str) -> bool:
    """Return whether a text is clearly one or more commands with arguments, and neither prose nor a function call."""
    commands = strip_prompts(text) or ""
    return bool(
        _COMMAND.match(commands)
        and not says(_QUOTED.sub("", commands), "sentence")
        and not consists_of(commands, "comment", "call")
        and is_complete(commands)
    )
