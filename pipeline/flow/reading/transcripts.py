"""Strip prompts, output and line numbers from scripts in transcripts and listings."""

from __future__ import annotations

import re
from contextlib import suppress

from catalog.analysis.shell.parsing import TooComplex, parse
from pipeline.flow.reading.phrases import consists_of, pattern

_LONGEST_COMMAND = 50  # lines
_MOST_BEFORE = 200
HEREDOC = re.compile(r"(?<!<)<<(?P<tabs>-?)[ \t]*['\"\\]?(?P<word>[A-Za-z_]\w*)")
_NUMBERED = re.compile(
    r"\n*[ \t]*+(?P<number>\d{1,6})(?P<sign>[ \t]*+[:.|)│][ \t]*+|[ \t]++)(?=\S)"
)
# The grammar misreads 10#$n and i=${#s}-1.
_MISREAD = re.compile(r"\b\d++#(?=[\w$])|(?<==)\$\{#\w+\}(?=-)")
_NUMBER = re.compile(r"[ \t]*+(\d{1,6})")


def end_of_heredoc(mark: re.Match[str], start: int = 0) -> int | None:
    """Return the end of a here-document, 0 if it never ends, or None if `<<` is a shift, quoted or in a comment."""
    text, begin = mark.string, max(start, mark.start() - _MOST_BEFORE)
    line = text[begin : mark.start()].rpartition("\n")[2]
    if line.count('"') % 2 or line.count("'") % 2 or "((" in line or line.lstrip().startswith("#"):
        return None
    tabs = r"\t*" * bool(mark["tabs"])
    end = re.compile(rf"^{tabs}{mark['word']}\r?$", re.MULTILINE).search(text, mark.end() + 1)
    return end.end() if end else 0


def _has_open_heredoc(script: str) -> bool:
    end = 0
    while mark := HEREDOC.search(script, end):
        found = end_of_heredoc(mark)
        if found == 0:
            return True
        end = found or mark.end()
    return False


def is_complete(script: str) -> bool:
    """Return whether a script parses without errors and has no open here-document."""
    source = _MISREAD.sub("", script).encode(errors="replace")
    try:
        return not (parse(source).has_error or _has_open_heredoc(script))
    except TooComplex:
        return False


def is_cut_short(script: str) -> bool:
    """Return whether a script ends within a here-document, a string or a compound command.

    Errors before the end don't count, because the grammar may cause them.
    """
    source = script.rstrip().encode(errors="replace")
    with suppress(TooComplex):
        node = parse(source)
        while broken := [child for child in node.children if child.has_error]:
            node = broken[-1]
        if node.has_error and node.end_byte == len(source):
            return True
    return _has_open_heredoc(script)


def strip_prompts(script: str, *, is_console: bool = False) -> str | None:
    """Return the commands of a transcript without prompts, or None if lines between them may be output.

    In a console transcript, such lines are output and are dropped. If all lines begin with `# `, they are prompts in a
    console transcript and comments in a script.
    """
    if is_console and consists_of(script, "root prompt"):
        return re.sub(r"(?m)^[ \t]*# ", "", script)
    kept: list[str] = []
    command, is_open = "", False
    for line in script.splitlines(keepends=True):
        if is_open:
            line = line.removeprefix("> ")
        elif prompt := pattern("prompt").match(line.rstrip("\r\n").lstrip()):
            line, command = line.lstrip()[prompt.end() :], ""
        elif line.strip() and not line.lstrip().startswith("#"):
            if command and is_console:
                continue
            return None if command or (is_console and "".join(kept).strip()) else script
        else:
            kept.append(line)
            continue
        kept.append(line)
        command += line
        is_open = not is_complete(command)
        if is_open and command.count("\n") > _LONGEST_COMMAND:
            return None
    return None if is_open else "".join(kept)


def strip_line_numbers(script: str) -> str | None:
    """Return the script without line numbers, or None if only some lines are numbered."""
    first = _NUMBERED.match(script)
    if not first:
        return script
    kept, sign = [], first["sign"]
    for number, line in enumerate(script.lstrip("\n").splitlines(True), int(first["number"])):
        found = _NUMBER.match(line)
        rest = line[found.end() :] if found and int(found[1]) == number else line
        if rest is not line and (rest.startswith(sign) or not rest.strip(f"{sign}\r\n")):
            kept.append(rest.removeprefix(sign) if rest.startswith(sign) else "\n")
        elif line.strip():
            return None
    return "".join(kept)
