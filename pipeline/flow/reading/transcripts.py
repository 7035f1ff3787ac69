"""Takes prompts, outputs and line numbers off scripts that a reply shows as a transcript or a listing."""

from __future__ import annotations

import re
from contextlib import suppress

from catalog.analysis.shell.parsing import TooComplex, parse
from pipeline.flow.reading.markup import has_open_heredoc

_LONGEST_COMMAND = 50  # lines
_PROMPT = re.compile(
    r"[ \t]*(?:\[?[\w.-]+@[\w.-]+[: ][^\n$#]{0,80}[$#]|(?:ba|z)?sh(?:-[\d.]+)?[$#]|[$%❯])(?:[ \t]+|$)"
)
_ROOT = re.compile(r"(?:[ \t]*+(?:# .*+)?+(?:\n|\Z))++")
_NUMBERED = re.compile(
    r"\n*[ \t]*+(?P<number>\d{1,6})(?P<sign>[ \t]*+[:.|)│][ \t]*+|[ \t]++)(?=\S)"
)
_NUMBER = re.compile(r"[ \t]*+(\d{1,6})")


def is_complete(script: str) -> bool:
    """Whether a parser finds nothing missing and nothing wrong in a script."""
    try:
        is_whole = not parse(script.encode(errors="replace")).has_error
    except TooComplex:
        return False
    return is_whole and not has_open_heredoc(script)


def is_cut_short(script: str) -> bool:
    """Whether a script ends within a here-document, a string or a compound command.

    An error that the parser finds before the end may be a slip of the grammar.
    """
    source = script.rstrip().encode(errors="replace")
    with suppress(TooComplex):
        node = parse(source)
        while broken := [child for child in node.children if child.has_error]:
            node = broken[-1]
        if node.has_error and node.end_byte == len(source):
            return True
    return has_open_heredoc(script)


def strip_prompts(script: str, *, is_console: bool = False) -> str | None:
    """The commands of a transcript without prompts; None if lines between them may be outputs.

    In a console, they are outputs, and are left out. A script may begin with comments, so only a console's lines may
    all have the prompt `# `.
    """
    if is_console and _ROOT.fullmatch(script):
        return re.sub(r"(?m)^[ \t]*# ", "", script)
    kept: list[str] = []
    command = ""  # that the next line may continue
    lines, is_open = 0, False
    for line in script.splitlines(keepends=True):
        prompt = _PROMPT.match(line.rstrip("\r\n"))
        if is_open and not (prompt and not has_open_heredoc(command)):
            line = line.removeprefix("> ")
        elif prompt:
            line = line[prompt.end() :]
            command, lines = command * is_open, lines * is_open
        elif not line.strip() or line.lstrip().startswith("#"):
            kept.append(line)
            continue
        elif not command:
            return None if is_console and "".join(kept).strip() else script
        elif is_console:
            continue
        else:
            return None
        kept.append(line)
        command, lines = command + line, lines + 1
        is_open = not is_complete(command)
        if is_open and lines > _LONGEST_COMMAND:
            return None
    return "".join(kept)


def strip_line_numbers(script: str) -> str | None:
    """The script without the numbers of its lines; None if only some lines have one."""
    first = _NUMBERED.match(script)
    if not first:
        return script
    kept = []
    for number, line in enumerate(
        script.lstrip("\n").splitlines(keepends=True), int(first["number"])
    ):
        found = _NUMBER.match(line)
        rest = line[found.end() :] if found else ""
        if found and int(found[1]) == number and rest.startswith(first["sign"]):
            kept.append(rest.removeprefix(first["sign"]))
        elif found and int(found[1]) == number and not rest.strip(first["sign"] + "\r\n"):
            kept.append("\n")
        elif line.strip():
            return None
    return "".join(kept)
