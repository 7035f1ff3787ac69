"""Secrets that a script prints, copies or sends to another machine."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from catalog.analysis.read_only.usage import ANY_USE
from catalog.analysis.risk.effects import Effect
from catalog.analysis.risk.flows import Flow
from catalog.analysis.risk.network import CURL_SENDS, read_curl
from catalog.analysis.risk.paths import secret_kind
from catalog.analysis.risk.subcommands import find_subcommand_effects
from catalog.analysis.shell.arguments import read_arguments
from catalog.analysis.shell.command_words import Word, show
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.inline_code import code_of, read_code
from catalog.analysis.shell.interpreters import is_language
from catalog.analysis.shell.program import Program
from catalog.analysis.shell.script_files import file_key
from catalog.analysis.tables import PATTERNS, WORDS
from catalog.analysis.types import Level

MAXIMUM_WORDS = 200  # of one command, or strings of its code, that are judged as paths
_READERS = (ANY_USE - WORDS["no-readers"]) | WORDS["readers"]
_COPIERS, _SEARCHERS, _SENDERS = WORDS["copiers"], WORDS["searchers"], WORDS["senders"]
_DNS, _ENCODERS = WORDS["name-lookups"], WORDS["encoders"]
_VALUES = {"scp": "iFPocJSl", "rsync": "e", "sftp": "iFPo", "grep": "efmABC", "zgrep": "ef"}


def find_disclosures(program: Program) -> Iterator[Effect]:
    """Reading of secrets, and whether they leave the machine."""
    kinds: dict[int, str] = {}  # what a command reads, by its id
    dumps = Flow(
        program, {id(command): command.name for command in filter(_is_dump, program.commands)}
    )
    for redirect in program.redirects:
        if redirect.kind == "read" and (kind := _kind_of(redirect.word, program)):
            yield _reads(kind, redirect.word)
    for command in program.commands:
        if _is_dump(command):
            kinds[id(command)] = "the environment or typed commands"
        for redirect in command.redirects:
            if redirect.kind == "read" and (kind := _kind_of(redirect.word, program)):
                kinds[id(command)] = kind
        for word, kind in _secrets_read(command, program):
            kinds[id(command)] = kind
            yield _reads(kind, word)
        yield from _searches(command, is_fed=bool(dumps.feeds(command)))
    yield from _sent(kinds, program)
    yield from _sent(_find_bulk(program), program, Level.WARNING)
    yield from _dns_queries(program)


def _reads(kind: str, word: Word) -> Effect:
    message = (
        f"Reads {kind} ({show(word)}). Print only what you need, because the output exposes them."
    )
    return Effect("reads_secrets", Level.WARNING, message, word.span)


def _kind_of(word: Word, program: Program) -> str | None:
    path = program.variables.worst(word) if word.literal is None else word.literal
    if (kind := secret_kind(path)) or "/" in path or not path:
        return kind
    moves = (change.arguments[-1:] for change in program.folder_changes[:3])
    folders = (word.literal or word.span.text for words in moves for word in words)
    return next((kind for one in folders if (kind := secret_kind(f"{one}/{path}"))), None)


def _secrets_read(command: Command, program: Program) -> Iterator[tuple[Word, str]]:
    """The words of the command that are secrets which it prints or copies."""
    name = command.name
    if name in program.functions:
        return
    if name in ("echo", "printf", "printenv") and not (
        command.context.pipes or command.redirects or command.context.outputs
    ):
        for word in command.arguments:
            names = [v.name for v in word.variables if v.operator not in ("#", ":+", "+")]
            names += [word.literal] if name == "printenv" and word.literal else []
            if any(PATTERNS["secret-name"].search(one) for one in names):
                yield word, "a secret of the environment"
    if is_language(name):
        for word in code_of(command):
            strings = re.finditer(r"[\"']([^\"'\s]{4,200})[\"']", read_code(word))
            kinds = (secret_kind(found[1]) for found in islice(strings, MAXIMUM_WORDS))
            yield from ((word, kind) for kind in kinds if kind)
    if name in _READERS:
        for word in islice(_files_read(command), MAXIMUM_WORDS):
            if kind := _kind_of(word, program):
                yield word, kind


def _files_read(command: Command) -> Iterable[Word]:
    name, words = command.name, command.arguments
    if name == "openssl":
        arguments = read_arguments(words, single_dash=True, long=("in", "out", "passin"))
        shows = not arguments.names & {"noout", "pubout", "pubin", "verify", "text"}
        return [value for key, value in arguments.options if key == "in" and value and shows]
    if name == "curl":
        return _curl_data(command)
    if name == "wget":
        return words
    arguments = read_arguments(words, short=_VALUES.get(name, ""))
    if name in _SEARCHERS and arguments.names & {"q", "c", "l", "quiet", "count", "silent"}:
        return ()
    return arguments.operands[:-1] if name in _COPIERS else arguments.operands


def _curl_data(command: Command) -> list[Word]:
    """The addresses and the data of curl; headers and passwords are meant for the server."""
    arguments = read_curl(command)
    sent = [value for name, value in arguments.options if name in CURL_SENDS and value]
    return [*arguments.operands, *sent]


def _searches(command: Command, *, is_fed: bool) -> Iterator[Effect]:
    """`grep -r password /srv`, `env | grep TOKEN` and `find / -name id_rsa`."""
    message = ""
    if command.name in _SEARCHERS:
        arguments = read_arguments(command.arguments, short="efmABC", long=("include", "exclude"))
        sought = arguments.value("e", "regexp") or next(iter(arguments.operands), None)
        is_wide = is_fed or command.name in ("rg", "ag") or arguments.has("r", "R", "recursive")
        if is_wide and sought and PATTERNS["searched"].search(sought.literal or ""):
            message = f"Searches files for secrets ({show(sought)}), and prints what it finds."
    elif command.name in ("find", "locate", "plocate", "fd"):
        for word in command.arguments[:MAXIMUM_WORDS]:
            text = word.literal or ""
            kind = not text.startswith("/") and (secret_kind(text) or secret_kind(text.strip("*")))
            message = f"Searches for files with {kind} ({show(word)})." if kind else message
    if message:
        yield Effect("reads_secrets", Level.WARNING, message, command.span)


def _sent(kinds: dict[int, str], program: Program, level: Level = Level.ERROR) -> Iterator[Effect]:
    """Where a secret, or with a lower level much data, reaches a command that talks to another machine."""
    is_bulk = level is not Level.ERROR
    senders = [
        command
        for command in program.commands
        if (
            command.name in _SENDERS
            or (command.name == "openssl" and command.has_option("s_client"))
            or any(r.word.prefix.startswith(("/dev/tcp/", "/dev/udp/")) for r in command.redirects)
        )
        and (not is_bulk or _is_stranger(command))
    ]
    if not senders:
        return
    fed = kinds if is_bulk else kinds | _printed_secrets(program)
    pipes, words = Flow(program, fed), Flow(program, kinds)
    for command in senders:
        kind = kinds.get(id(command)) if _sends_its_files(command) else None
        if command.name != "curl" or _sends_input(command):
            kind = kind or pipes.feeds(command)
        kind = kind or next(filter(None, map(words.reaches, _data_words(command))), None)
        if kind:
            message = f"Sends {kind} to another machine ({command.name})."
            yield Effect("exfiltration", level, message, command.span)
        elif command.name in ("curl", "wget"):
            for word in read_curl(command).operands:
                if any(other.name in _ENCODERS for other in program.inside(word)):
                    message = f"Sends the output of a command in the address {show(word)}."
                    yield Effect("exfiltration", Level.WARNING, message, command.span)


def _find_bulk(program: Program) -> dict[int, str]:
    """The commands, by id, that print or name databases, disks, whole folders, or files with these."""
    kinds, files = dict[int, str](), set[str]()
    for command in program.commands:
        redirected = [r.word for r in command.redirects if not r.word.prefix.startswith("/dev/")]
        words = [*command.arguments[:MAXIMUM_WORDS], *redirected]
        is_reader = command.name in WORDS["bulk-readers"] and any(
            PATTERNS["bulk"].fullmatch(word.literal or "")
            or file_key(word).rpartition("@")[2] in files
            for word in words
        )
        if is_reader or command.name in WORDS["bulk-dumps"]:
            kinds[id(command)] = "a whole database, disk or folder"
            named = [w for w in command.arguments[:2] if re.search(r"\.\w+$", w.literal or "")]
            files |= {file_key(word) for word in (*named, *redirected)}
    return kinds


def _is_stranger(command: Command) -> bool:
    """Whether the command sends to any address: backups go to machines with names, by ssh."""
    words = [*command.arguments, *(redirect.word for redirect in command.redirects)]
    is_bare = any(PATTERNS["stranger"].search(word.literal or "") for word in words)
    return is_bare or command.name in WORDS["bulk-senders"]


def _printed_secrets(program: Program) -> dict[int, str]:
    """The commands, by id, of which a rule says that they read secrets."""
    return {
        id(command): "secrets that another command reads"
        for command in program.commands
        if command.context.pipes
        and any(e.code == "reads_secrets" for e in find_subcommand_effects(command, program))
    }


def _is_dump(command: Command) -> bool:
    """Whether the command prints all variables, or all typed commands."""
    texts = [word.literal for word in command.arguments]
    if command.name in ("export", "declare", "typeset"):
        return texts in (["-p"], ["-x"])
    return command.name in ("env", "printenv", "set", "history") and not texts


def _sends_its_files(command: Command) -> bool:
    """Whether the files that the command reads go to the other machine."""
    if command.name in ("scp", "rsync", "sftp"):
        target = command.words[-1]
        return ":" in (target.literal or target.span.text)
    if command.name == "wget":
        return any(word.prefix.startswith(("--post-", "--body-")) for word in command.arguments)
    return command.name != "curl" or bool(read_curl(command).names & CURL_SENDS)


def _sends_input(command: Command) -> bool:
    return any(word.prefix.endswith(("-", "/dev/stdin")) for word in _curl_data(command))


def _data_words(command: Command) -> Iterator[Word]:
    """The words of the command that reach the other machine as data."""
    if command.name == "curl":
        yield from _curl_data(command)
    elif command.name != "ssh":
        yield from (word for word in command.arguments if not word.prefix.startswith("--header"))
    if command.fed_text:
        yield command.fed_text


def _dns_queries(program: Program) -> Iterator[Effect]:
    """`dig $(base64 file).example.com`: the name that is looked up carries data."""
    queries = [command for command in program.commands if command.name in _DNS]
    if not queries:
        return
    encoded = Flow(program, {id(c): c.name for c in program.commands if c.name in _ENCODERS})
    for command in queries:
        is_fed = encoded.feeds(command)
        for word in command.arguments:
            if any(text.startswith(".") for text in word.texts) and (
                encoded.reaches(word) or (is_fed and (word.variables or word.takes_input))
            ):
                message = f"Sends data in the name that it looks up ({show(word)})."
                yield Effect("exfiltration", Level.ERROR, message, command.span)
                break
