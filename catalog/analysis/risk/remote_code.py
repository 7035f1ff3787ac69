"""Code that comes from another machine and is run without anybody reading it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from catalog.analysis.risk.effects import Effect
from catalog.analysis.risk.network import read_curl
from catalog.analysis.shell.arguments import read_arguments
from catalog.analysis.shell.command_words import Word, show
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.fragments import Unit
from catalog.analysis.shell.program import Program
from catalog.analysis.shell.wrappers import SHELLS, STANDARD_INPUT
from catalog.analysis.types import Level

_DOWNLOADERS = frozenset({"curl", "wget", "fetch", "aria2c", "lynx", "http", "https", "xh", "nc"})
_INTERPRETERS = SHELLS | {"python", "python2", "python3", "perl", "ruby", "node", "php"}
_READERS = _INTERPRETERS | {"eval", "source", "."}


# For each pipeline (its unit and offset): where in it something is downloaded, and by what.
_Pipes = dict[tuple[Unit, int], tuple[int, str]]


def find_remote_code(program: Program) -> Iterator[Effect]:
    """Downloads that are run: through a pipe, a substitution, a variable or a file."""
    tainted = _downloaded_variables(program)
    pipes = _downloading_pipes(program, tainted)
    files = _downloaded_files(program)
    for command in program.commands:
        reason = None
        if command.name in _READERS:
            reason = (
                _from_substitution(command, program)
                or _from_variable(command, tainted)
                or _from_pipe(command, pipes)
            )
        reason = reason or _from_file(command, files)
        if reason:
            yield Effect("remote_code", Level.ERROR, reason, command.span)


def _from_substitution(command: Command, program: Program) -> str | None:
    fed = (command.fed_text,) if command.fed_text and _reads_code_from_input(command) else ()
    for word in (*command.words, *fed):
        names = [other.name for other in program.inside(word) if other.name in _DOWNLOADERS]
        if names:
            return _message(names[0], command)
    return None


def _message(source: str, command: Command) -> str:
    return f"Runs what {source} gets from another machine, unread ({command.name})."


def _from_variable(command: Command, tainted: frozenset[str]) -> str | None:
    if command.name not in ("eval", "source", ".", *SHELLS):
        return None
    fed = (command.fed_text,) if command.fed_text and _reads_code_from_input(command) else ()
    for word in (*command.arguments, *fed):
        if any(variable.name in tainted for variable in word.variables):
            return f"Runs what was downloaded into {show(word)}, unread."
    return None


def _from_pipe(command: Command, pipes: _Pipes) -> str | None:
    if not _reads_code_from_input(command):
        return None
    for unit, start, place in command.context.pipes:
        source_place, source = pipes.get((unit, start), (place, ""))
        if source_place < place:
            return _message(source, command)
    return None


def _reads_code_from_input(command: Command) -> bool:
    """Whether the interpreter takes its program from standard input."""
    arguments = read_arguments(command.arguments, stop_at_operand=True)
    first = (arguments.operands[0].literal or "") if arguments.operands else "-"
    if command.name in SHELLS:
        return not arguments.has("c") and (first in STANDARD_INPUT or arguments.has("s"))
    if command.name in ("source", "."):
        return first in STANDARD_INPUT - {"-"}
    has_program = bool(arguments.names & set("cmenprEV"))
    return command.name in _INTERPRETERS and not has_program and first in STANDARD_INPUT


def _downloaded_variables(program: Program) -> frozenset[str]:
    return frozenset(
        assignment.name
        for assignment in program.assignments
        for word in assignment.values
        if any(command.name in _DOWNLOADERS for command in program.inside(word))
    )


def _downloading_pipes(program: Program, tainted: frozenset[str]) -> _Pipes:
    """For each pipeline, the first place in it that brings something from another machine."""
    pipes: _Pipes = {}
    for command in program.commands:
        is_tainted = command.name in ("echo", "printf") and any(
            variable.name in tainted for word in command.arguments for variable in word.variables
        )
        if not (command.name in _DOWNLOADERS or is_tainted):
            continue
        for unit, start, place in command.context.pipes:
            if (unit, start) not in pipes or place < pipes[unit, start][0]:
                pipes[unit, start] = (place, command.name)
    return pipes


def _downloaded_files(program: Program) -> dict[str, int]:
    """Names of files that curl or wget write, and the line where."""
    files: dict[str, int] = {}
    for command in program.commands:
        for word in _files_written(command):
            if name := _file_key(word):
                files.setdefault(name, command.span.line)
    return files


def _files_written(command: Command) -> Iterator[Word]:
    if command.name == "curl":
        arguments = read_curl(command)
        target = arguments.value("o", "output")
        named_by_server = arguments.has("O", "remote-name")
    elif command.name == "wget":
        arguments = read_arguments(
            command.arguments, short="OoPtTweaiUQ", long=("output-document", "tries", "timeout")
        )
        target = arguments.value("O", "output-document")
        named_by_server = target is None
    else:
        return
    if target is not None:
        yield target
    if named_by_server:
        yield from arguments.operands
    yield from (redirect.word for redirect in command.redirects if redirect.kind == "write")


def _from_file(command: Command, files: dict[str, int]) -> str | None:
    if not files or command.name in ("curl", "wget"):
        return None
    word = command.words[0]
    if command.name in _READERS - {"eval"}:
        operands = read_arguments(command.arguments, stop_at_operand=True).operands
        word = operands[0] if operands else word
    elif "/" not in word.span.text and word.literal is not None:
        return None
    line = files.get(_file_key(word))
    return None if line is None else f"Runs {show(word)}, which line {line} downloads, unread."


def _file_key(word: Word) -> str:
    """The same key for a file and for the ways to name it: quotes and folders do not count."""
    text = re.sub(r"[\"'{}]", "", word.literal or word.span.text).strip()
    return text.partition("?")[0].rstrip("/").rpartition("/")[2]
