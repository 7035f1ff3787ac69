"""Code of other languages on the command line, and the shell commands that it starts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from catalog.analysis.shell.arguments import read_arguments
from catalog.analysis.shell.command_words import Part, Text, Variable, Word
from catalog.analysis.shell.commands import Command

MAXIMUM_CODE = 20_000  # characters that are looked at
MAXIMUM_CALLS = 50
AWKS = frozenset({"awk", "gawk", "mawk", "nawk"})
# The options that carry code, by the beginning of the interpreter's name.
_CODE_OPTIONS = {
    "python": ("c",),
    "perl": ("e", "E"),
    "ruby": ("e",),
    "node": ("e", "p", "eval", "print"),
    "php": ("r",),
}
INTERPRETERS = AWKS | {"python", "python2", "python3", "perl", "ruby", "node", "php"}

_STRING = r"(?:\"(?P<{0}double>(?:[^\"\\\n]|\\.){{0,2000}})\"|'(?P<{0}single>(?:[^'\\\n]|\\.){{0,2000}})')"
_CALL = re.compile(
    r"\b(?:system|popen\w?|Popen|exec|execSync|shell_exec|passthru|getoutput|check_output"
    r"|check_call|call|run)\s{0,9}\(?\s{0,9}" + _STRING.format("") + r"\s{0,9}(?P<after>.?)"
)
_AWK_PIPE = re.compile(
    _STRING.format("from_") + r"\s{0,9}\|(?P<after>)\s{0,9}getline"
    r"|\|\s{0,9}" + _STRING.format("")
)


def code_of(command: Command) -> Iterator[Word]:
    """The words of the command that are code in the language of its interpreter."""
    if command.name in AWKS:
        arguments = read_arguments(
            command.arguments, short="Fvf", long=("assign", "file"), stop_at_operand=True
        )
        if not arguments.has("f", "file"):
            yield from arguments.operands[:1]
        return
    names = _CODE_OPTIONS[command.name.rstrip("23")]
    letters = "".join(name for name in names if len(name) == 1)
    arguments = read_arguments(command.arguments, short=letters, long=names, stop_at_operand=True)
    found = [value for name, value in arguments.options if name in names and value is not None]
    yield from found
    operand = arguments.operands[0].literal if arguments.operands else "-"
    if not found and operand == "-" and command.fed_text is not None:
        yield command.fed_text


def shell_texts(command: Command) -> Iterator[Word]:
    """The texts that the command's own code has a shell run, as far as they stand in it."""
    patterns = (_CALL, _AWK_PIPE) if command.name in AWKS else (_CALL,)
    for word in code_of(command):
        code = read_code(word)
        for pattern in patterns:
            for count, found in enumerate(pattern.finditer(code)):
                is_python = command.name.startswith("python") and found[0].startswith("exec")
                if count < MAXIMUM_CALLS and not is_python:
                    yield _shell_text(word, found)


def read_code(word: Word) -> str:
    """The code in the word, with what only run time knows as it is written."""
    return (word.literal if word.literal is not None else word.span.text)[:MAXIMUM_CODE]


def _shell_text(word: Word, found: re.Match[str]) -> Word:
    groups = {name: text for name, text in found.groupdict().items() if text is not None}
    after = groups.pop("after", "")
    name, text = next(iter(groups.items()))
    parts: list[Part] = [Text(re.sub(r"\\(.)", r"\1", text), quoted=True)]
    if after not in ("", ")", ",", ";", "}"):  # something is joined to the string
        parts.append(Variable("value"))
    return Word(tuple(parts), word.span_of(*found.span(name)))
