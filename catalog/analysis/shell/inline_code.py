"""Code of other languages on the command line, and the shell commands that it starts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from catalog.analysis.shell.command_words import Part, Text, Variable, Word
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.decoding import printed_text
from catalog.analysis.shell.interpreters import AWKS, is_language, read_sources
from catalog.analysis.tables import PATTERNS, read_table

MAXIMUM_CODE = 20_000  # characters that are searched
MAXIMUM_CALLS = 50

_STRING = r"(?:\"(?P<{0}double>(?:[^\"\\\n]|\\.){{0,2000}})\"|'(?P<{0}single>(?:[^'\\\n]|\\.){{0,2000}})')"
_MORE = r"(?P<more>(?:\s{0,9},\s{0,9}\[?\s{0,9}(?:\"[^\"\\\n]{0,200}\"|'[^'\\\n]{0,200}')){0,30}+)"
_CALL = re.compile(
    r"\b(?:system|popen\w?|Popen|exec\w{0,9}|spawn\w{0,9}|shell_exec|passthru|getoutput"
    r"|check_output|check_call|call|run)\s{0,9}\(?\s{0,9}\[?\s{0,9}"
    + _STRING.format("")
    + _MORE
    + r"\s{0,9}\]?\s{0,9}(?P<after>.?)"
)
_AWK_PIPE = re.compile(
    _STRING.format("from_") + r"\s{0,9}\|(?P<after>)\s{0,9}getline"
    r"|\|\s{0,9}" + _STRING.format("")
)
_BACKQUOTES = re.compile(r"`(?P<shell>[^`\n]{1,2000})`|(?:\bqx|%x)[({/|!](?P<x>[^)}|!\n]{1,2000})")
_ESCAPES = {
    name: re.compile(pattern) for name, _, pattern in read_table("shell/programs.txt", "escapes")
}


def code_of(command: Command) -> Iterator[Word]:
    """Yield the command's words that contain code in its interpreter's language."""
    if sources := read_sources(command):
        yield from sources.code
        if sources.reads_input and command.fed_text is not None:
            yield command.fed_text


def shell_texts(command: Command) -> Iterator[Word]:
    """Yield the shell commands in the command's own code, if they are literal."""
    name = command.name
    if is_language(name):
        patterns = [_CALL]
        patterns += [_AWK_PIPE] if name in AWKS else []
        patterns += [_BACKQUOTES] if name in ("perl", "ruby", "php") else []
        words = tuple(code_of(command))
    elif name in _ESCAPES:
        patterns = [_ESCAPES[name]]
        words = command.arguments
        words += (command.fed_text,) if command.fed_text else ()
    elif name in ("cat", "tee", "echo", "printf"):  # a crontab or a systemd unit
        files = [r.word.prefix for r in command.redirects if r.kind in ("write", "append")]
        files += [word.prefix for word in command.arguments if name == "tee"]
        kinds = [k for k in ("cron", "unit") if any(map(PATTERNS[f"{k}-file"].search, files))]
        text = printed_text(command) if kinds else None
        patterns, words = [PATTERNS[f"{k}-line"] for k in kinds], (text,) if text else ()
    else:
        return
    for word in words:
        code = read_code(word)
        for pattern in patterns:
            for count, found in enumerate(pattern.finditer(code)):
                is_python = name.startswith("python") and re.match(r"exec\s*\(", found[0])
                if count < MAXIMUM_CALLS and not is_python:
                    yield _shell_text(word, found)


def read_code(word: Word) -> str:
    """Return the code in the word. If the word has parts that are known only at run time, return it as written."""
    return (word.literal if word.literal is not None else word.span.text)[:MAXIMUM_CODE]


def _shell_text(word: Word, found: re.Match[str]) -> Word:
    groups = {name: text for name, text in found.groupdict().items() if text is not None}
    after, more = groups.pop("after", ""), groups.pop("more", "")
    name, text = next(iter(groups.items()))
    if more and not re.search(r"\s", text):  # a list of arguments
        further = re.findall(r"\"([^\"]*)\"|'([^']*)'", more)
        text = " ".join([text, *(shlex.quote(one or other) for one, other in further)])
    elif name in ("double", "single", "from_double", "from_single"):
        text = re.sub(r"\\(.)", r"\1", text)
    parts: list[Part] = [Text(text, quoted=True)]
    if after not in ("", ")", ",", ";", "}"):  # text is appended to the string
        parts.append(Variable("value"))
    return Word(tuple(parts), word.span_of(*found.span(name)))
