"""Find code from outside the script: from another machine, a pipe, a decoder or a file."""

from __future__ import annotations

import re
from collections.abc import Iterator

from catalog.analysis.risk.effects import Effect
from catalog.analysis.risk.flows import Flow
from catalog.analysis.shell.command_words import Word, show
from catalog.analysis.shell.commands import Command, Unseen
from catalog.analysis.shell.interpreters import SHELLS, interpreter_of, is_shell
from catalog.analysis.shell.program import Program
from catalog.analysis.shell.script_files import file_key, output_files
from catalog.analysis.shell.wrappers import STARTERS, sources_of
from catalog.analysis.tables import PATTERNS, read_table, word_set
from catalog.analysis.types import Level

MAXIMUM_PRODUCERS = 200
_TEXT = {name: word_set(words) for name, _, words in read_table("shell/programs.txt", "text")}
_DOWNLOADERS = _TEXT["downloads"]
_REMOTE = _DOWNLOADERS | _TEXT["remote"]
_URL = re.compile(r"(?:https?|ftp|s3|gs)://")


def find_remote_code(program: Program) -> Iterator[Effect]:
    """Yield an effect for each download that the script runs, then for other code that is not in the script."""
    downloads = Flow(program, {id(c): c.name for c in program.commands if c.name in _DOWNLOADERS})
    remote = Flow(program, dict(_find_remote(program, downloads)))
    files = _downloaded_files(program)
    lines: set[int] = set()
    for command in program.commands:
        reason = _from_words(command, downloads, remote) or _from_pipe(command, remote)
        reason = reason or _from_file(command, files) or _into_system(command, remote)
        if reason:
            lines.add(command.span.line)
            yield Effect("remote_code", Level.ERROR, reason, command.span)
    for unseen in program.unseen:
        if unseen.command.span.line not in lines and (origin := _origin(unseen, program)):
            message = (
                f"{unseen.command.name or 'The shell'} runs text that is not in the script: {origin}."
                " Write the commands into the script, or save the text and review it first."
            )
            yield Effect("unseen_code", Level.ERROR, message, unseen.command.span)


def _code_words(command: Command) -> tuple[Word, ...]:
    """Return the words that contain code or that name files with code."""
    sources = sources_of(command)
    if sources is None:
        return command.words[:1]
    fed = (command.fed_text,) if sources.reads_input and command.fed_text else ()
    read = [r.word for r in command.redirects if r.kind == "read" and sources.reads_input]
    return (*sources.code, *sources.files, *fed, *read)


def _from_words(command: Command, downloads: Flow, remote: Flow) -> str | None:
    for word in _code_words(command):
        is_part = word is command.words[0] and len(word.parts) > 1  # `$(...)/bin/name`
        if (name := remote.inside(word)) and not is_part:
            return _message(name, command)
        if _URL.match(word.prefix) and word is not command.words[0]:
            return f"Runs {show(word)} from another machine without review ({command.name})."
        is_run = is_shell(command.name)
        if is_run and any(variable.name in downloads.variables for variable in word.variables):
            return f"Runs the download in {show(word)} without review."
    return None


def _message(source: str, command: Command) -> str:
    by = f" ({command.name})" if command.name else ""
    return f"Runs what {source} gets from another machine without review{by}."


def _from_pipe(command: Command, remote: Flow) -> str | None:
    sources = sources_of(command)
    if sources is None or not sources.reads_input or _is_in_loop(command):
        return None
    source = remote.feeds(command)
    return _message(source, command) if source else None


def _is_in_loop(command: Command) -> bool:
    """Return whether the command is `ssh` in a loop, which reads the loop's input only by accident."""
    return command.name == "ssh" and bool(command.context.loops)


def _find_remote(program: Program, downloads: Flow) -> Iterator[tuple[int, str]]:
    """Yield the id of each command that prints data from another machine, and the program that fetches the data."""
    for command in program.commands:
        if command.name in _REMOTE:
            yield id(command), command.name
        elif command.name in ("echo", "printf"):
            names = {v.name for word in command.arguments for v in word.variables}
            if any(name in downloads.variables for name in names):
                yield id(command), command.name


def _downloaded_files(program: Program) -> dict[str, int]:
    """Return the names of downloaded files, with the lines that download them."""
    files: dict[str, int] = {}
    for command in program.commands:
        for word in _files_downloaded(command):
            if name := file_key(word):
                files.setdefault(name, command.span.line)
    return files


def _files_downloaded(command: Command) -> Iterator[Word]:
    if command.name not in ("curl", "wget", "aria2c"):
        return
    named = [*output_files(command)]
    yield from named
    is_named_by_server = command.name != "curl" or any(
        re.match(r"-[a-zA-Z]*O|--remote-name", word.prefix) for word in command.arguments
    )
    if is_named_by_server:
        yield from (word for word in command.arguments if not word.prefix.startswith("-"))
    yield from (redirect.word for redirect in command.redirects if redirect.kind == "write")


def _from_file(command: Command, files: dict[str, int]) -> str | None:
    if not files or command.name in ("curl", "wget"):
        return None
    for word in _code_words(command):
        if word is command.words[0] and "/" not in word.span.text and word.literal is not None:
            continue
        if line := files.get(file_key(word)):
            return f"Runs {show(word)}, which line {line} downloads, without review."
    return None


def _into_system(command: Command, remote: Flow) -> str | None:
    """Return a message if a download is written to a place from which the system or a shell runs it, or None
    otherwise.
    """
    written = [*_files_downloaded(command)]
    if command.name in ("tee", "dd") and remote.feeds(command):
        written += [word for word in command.arguments if not word.prefix.startswith("-")]
    for word in written:
        if PATTERNS["run-by-system"].search(word.literal or word.span.text):
            return f"Downloads to {show(word)}, where the system runs it without review."
    return None


def _origin(unseen: Unseen, program: Program) -> str | None:
    """Return the source of code that is not in the script, or None if it is harmless.

    A value from the script's user is harmless, because it is filled in before the script runs.
    """
    command = unseen.command
    if unseen.writers:
        producers, where = list(unseen.writers), "from a file that line {} writes"
    elif unseen.words:
        found = _behind(unseen, program)
        if found is None:
            return "it is read while the script runs"
        producers, where = found, "from the output of {}"
    elif command.context.pipes and command.context.pipes[-1][2] and not _is_in_loop(command):
        producers, where = program.piped_into(command), "through a pipe from {}"
    else:
        return None
    spec = interpreter_of(command.name)
    if spec is not None and spec.is_declarative:
        return None
    for producer in producers:
        if not _prints_what_is_known(producer, command, program):
            shown = str(producer.span.line) if unseen.writers else producer.name or "a command"
            return f"it comes {where.format(shown)}"
    return None


def _behind(unseen: Unseen, program: Program) -> list[Command] | None:
    """Return the commands that output the words, directly or through variables, or None if a file or unknown input
    provides the text.
    """
    waiting, seen, found = list(unseen.words), set[str](), list[Command]()
    while waiting and len(found) < MAXIMUM_PRODUCERS:
        word = waiting.pop()
        inside = program.inside(word)
        if not inside and any(output.kind in ("command", "process") for output in word.outputs):
            return None  # `$(<file)`
        found += inside
        if word.takes_input:
            found += program.piped_into(unseen.command)
        for variable in word.variables:
            if variable.name not in seen:
                seen.add(variable.name)
                sources = program.variables.sources(variable.name)
                if sources is None:
                    return None
                waiting += sources
    return found


def _prints_what_is_known(
    producer: Command, command: Command, program: Program, depth: int = 0
) -> bool:
    """Return whether the producer prints only settings, its own arguments, or a function's known output."""
    name = producer.name
    if name in program.functions and depth < 3:
        body = program.by_function.get(name, [])[:MAXIMUM_PRODUCERS]
        return all(_prints_what_is_known(c, command, program, depth + 1) for c in body)
    if any(redirect.kind == "read" for redirect in producer.redirects):
        return False
    if name in _TEXT["printers"] | _TEXT["setters"] or (producer.is_opened and name in STARTERS):
        return True
    texts = {(word.literal or "").lstrip("-") for word in producer.arguments}
    return bool(texts & _TEXT["settings"]) or (
        name in _TEXT["dumps"] and command.name not in SHELLS
    )
