"""Programs that run code, and where they read it from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from catalog.analysis.shell.arguments import read_arguments
from catalog.analysis.shell.command_words import Output, Word, join_words
from catalog.analysis.shell.commands import Command
from catalog.analysis.tables import read_table

# A here-document may be on any descriptor.
STANDARD_INPUT = {f"{root}/fd/{n}" for root in ("/dev", "/proc/self") for n in range(10)}
STANDARD_INPUT |= {"-", "/dev/stdin"}
SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh", "ash", "rbash"})
AWKS = frozenset({"awk", "gawk", "mawk", "nawk"})


@dataclass(frozen=True, slots=True)
class Interpreter:
    """An interpreter's options, grouped by the meaning of their values, and the meaning of its operands."""

    code: list[str]
    files: list[str]
    values: list[str]
    idle: list[str]  # options with which no code runs
    operand: str  # meaning: "file" (first operand), "code" (later operands), "js" (scripts) or "words" (all)
    subcommands: list[str]  # the only subcommands that run code
    reads_input: bool  # if neither code nor a file is given
    is_shell: bool
    is_language: bool
    is_declarative: bool  # its input describes a state, whose changes are analyzed separately


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of the code that a command runs."""

    code: tuple[Word, ...] = ()
    files: tuple[Word, ...] = ()
    reads_input: bool = False


def _read_line(text: str) -> Interpreter:
    flags = text.split()
    fields = dict(word.split(":", 1) for word in flags if ":" in word)
    code, files, values, idle, subcommands = (
        [name for name in fields.get(field, default).split(",") if name]
        for field, default in (
            *(("code", ""), ("files", ""), ("values", "")),
            *(("idle", "help,version,V"), ("subcommands", "")),
        )
    )
    return Interpreter(
        *(code, files, values, idle, fields.get("operand", ""), subcommands),
        reads_input="no-input" not in flags,
        is_shell="shell" in flags,
        is_language="language" in flags,
        is_declarative="declarative" in flags,
    )


INTERPRETERS = {
    name: _read_line(text) for name, _, text in read_table("shell/programs.txt", "interpreters")
}


@lru_cache(maxsize=500)
def interpreter_of(name: str) -> Interpreter | None:
    """Return the interpreter with this name, which may end in a version (python3.11)."""
    return INTERPRETERS.get(name) or INTERPRETERS.get(re.sub(r"-?[\d.]+$", "", name) or name)


def is_shell(name: str) -> bool:
    """Return whether the program runs shell code."""
    spec = interpreter_of(name)
    return spec is not None and spec.is_shell


def is_language(name: str) -> bool:
    """Return whether the program is an interpreter of a language that can delete files or start commands."""
    spec = interpreter_of(name)
    return spec is not None and spec.is_language


def read_sources(command: Command) -> Sources | None:
    """Return the sources of the command's code, or None if the command runs no code."""
    spec = interpreter_of(command.name)
    if spec is None:
        return None
    valued = [*spec.code, *spec.files, *spec.values]
    arguments = read_arguments(
        command.arguments,
        short="".join(name for name in valued if len(name) == 1),
        long=valued,
        single_dash=command.name in ("sqlite3", "java"),
        stop_at_operand=spec.operand in ("file", "words") or command.name in AWKS,
    )
    operands = arguments.operands
    if arguments.has(*spec.idle):
        return None
    if spec.subcommands and not set(arguments.subcommands[:1]) & set(spec.subcommands):
        return None
    options = [(name, value) for name, value in arguments.options if value is not None]
    code = tuple(value for name, value in options if name in spec.code)
    files = tuple(value for name, value in options if name in spec.files)
    if command.name in SHELLS and arguments.has("c"):
        return Sources(code=operands[:1] or (_passed_on(command),))
    if spec.operand == "words" and operands:
        code = (join_words(operands),)
    elif spec.operand == "code":
        code += operands[1:]
    elif command.name in AWKS and not files:
        code = operands[:1]
    elif spec.operand == "js":
        files += tuple(word for word in operands if (word.literal or "").endswith(".js"))
    elif spec.operand == "file" and not (
        code or files or (command.name in SHELLS and arguments.has("s"))
    ):
        files = operands[:1] or ((_passed_on(command),) if command.takes_more else ())
    fed = STANDARD_INPUT - ({"-"} if command.name in ("source", ".") else set())
    named = tuple(word for word in files if word.literal not in fed)
    is_fed = len(named) < len(files) or (spec.reads_input and not (code or files))
    return Sources(code, named, is_fed)


def _passed_on(command: Command) -> Word:
    """Return the word that xargs inserts, with the command's position."""
    return Word((Output("input", "{}", -1),), command.words[-1].span)
