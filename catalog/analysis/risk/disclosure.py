"""Find secrets that a script prints, copies or sends to another machine."""

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

MAXIMUM_WORDS = 200  # words of one command, or strings in its code, checked as paths
_READERS = (ANY_USE - WORDS["no-readers"]) | WORDS["readers"]
_COPIERS, _SEARCHERS, _SENDERS = WORDS["copiers"], WORDS["searchers"], WORDS["senders"]
_REPOSITORIES, _CONTAINERS = WORDS["repositories"], WORDS["container-programs"]
_REMOTE = re.compile(r"[\"']?(?:[\w.@${}-]+:|\w+://)")
_DNS, _ENCODERS = WORDS["name-lookups"], WORDS["encoders"]
_VALUES = {"scp": "iFPocJSl", "rsync": "e", "sftp": "iFPo", "grep": "efmABC", "zgrep": "ef"}
_VALUES |= {"head": "nc", "tail": "ncs", "od": "AjNtw", "xxd": "lsc", "awk": "Fv", "base64": "w"}


def find_disclosures(program: Program) -> Iterator[Effect]:
    """Yield an effect for each secret that the script reads, prints or sends to another machine."""
    kinds: dict[int, str] = {}  # kinds of secrets that commands read, by command id
    is_pushed = any(c.name in _REPOSITORIES and c.has_option("push") for c in program.commands)
    dumps = Flow(
        program, {id(command): command.name for command in filter(_is_dump, program.commands)}
    )
    for redirect in program.redirects:
        if redirect.kind == "read" and (kind := _kind_of(redirect.word, program)):
            yield _reads(kind, redirect.word)
    for command in program.commands:
        if _is_dump(command):
            kinds[id(command)] = "the environment or typed commands"
            if _CONTAINERS & set(command.context.via) and command.name in ("env", "printenv"):
                message = "Prints the environment of a container, which often holds passwords."
                yield Effect("reads_secrets", Level.WARNING, message, command.span)
        if command.name in _REPOSITORIES and command.has_option("add"):
            for word in command.arguments[1:MAXIMUM_WORDS]:
                if kind := _kind_of(word, program):
                    level = Level.ERROR if is_pushed else Level.WARNING
                    message = (
                        f"Adds {kind} ({show(word)}) to the repository, where others can read it."
                    )
                    yield Effect("exfiltration", level, message, command.span)
        for redirect in command.redirects:
            if redirect.kind == "read" and (kind := _kind_of(redirect.word, program)):
                kinds[id(command)] = kind
        for word, kind in _secrets_read(command, program):
            kinds |= {id(command): kind} if kind else {}
            yield _reads(kind, word)
        yield from _searches(command, is_fed=bool(dumps.feeds(command)))
    bulk = _find_bulk(program)
    shown = bulk | kinds
    yield from _sent(kinds, program)
    yield from _sent(bulk, program, Level.WARNING)
    for command in program.commands:
        yield from _published(command, program, shown)
        if id(command) not in kinds:
            yield from _sends_files(command, program)
    yield from _dns_queries(program)


def _reads(kind: str, word: Word) -> Effect:
    message = (
        f"Reads {kind} ({show(word)}). Print only what you need, because the output exposes them."
    )
    if not kind:
        message = f"Reads a file whose name is computed ({show(word)}). It may contain secrets."
    return Effect("reads_secrets", Level.WARNING if kind else Level.INFO, message, word.span)


def _kind_of(word: Word, program: Program) -> str | None:
    values = program.values(word) if word.sole_variable else []
    kinds = (secret_kind(program.variables.worst(v)) for v in values if v is not word)
    if kind := next(filter(None, kinds), None):
        return kind
    path = program.variables.worst(word) if word.literal is None else word.literal
    if (kind := secret_kind(path)) or "/" in path or not path:
        return kind
    moves = (change.arguments[-1:] for change in program.folder_changes[:3])
    folders = (word.literal or word.span.text for words in moves for word in words)
    return next((kind for one in folders if (kind := secret_kind(f"{one}/{path}"))), None)


def _secrets_read(command: Command, program: Program) -> Iterator[tuple[Word, str]]:
    """Yield the words for secrets that the command prints or copies, each with the kind of secret."""
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
                yield word, "a secret from the environment"
    if is_language(name):
        for word in code_of(command):
            strings = re.finditer(r"[\"']([^\"'\s]{4,200})[\"']", read_code(word))
            kinds = (secret_kind(found[1]) for found in islice(strings, MAXIMUM_WORDS))
            yield from ((word, kind) for kind in kinds if kind)
    if name in _READERS:
        has_pattern = name in _SEARCHERS or is_language(name) or name == "sed"
        pattern = command.arguments[0] if has_pattern and command.arguments else None
        for word in islice(_files_read(command), MAXIMUM_WORDS):
            if kind := _kind_of(word, program):
                yield word, kind
            elif name in WORDS["file-readers"] and word is not pattern and _is_built(word, program):
                yield word, ""


def _is_built(word: Word, program: Program) -> bool:
    """Return whether a command that builds paths computes the word, directly or through a variable."""
    values = [v for v in program.values(word) if any(o.kind == "command" for o in v.outputs)]
    return any(c.name in WORDS["path-builders"] for value in values for c in program.inside(value))


def _files_read(command: Command) -> Iterable[Word]:
    name, words = command.name, command.arguments
    if name == "openssl":
        arguments = read_arguments(words, single_dash=True, long=("in", "out", "passin"))
        shows = not arguments.names & {"noout", "pubout", "pubin", "verify", "text"}
        return [value for key, value in arguments.options if key == "in" and value and shows]
    if name == "curl":
        return _curl_data(command)
    if name == "wget":
        return [*words, *_files_sent(command)]
    arguments = read_arguments(words, short=_VALUES.get(name, ""))
    if name in _SEARCHERS and arguments.names & {"q", "c", "l", "quiet", "count", "silent"}:
        return ()
    return arguments.operands[:-1] if name in _COPIERS else arguments.operands


def _curl_data(command: Command) -> list[Word]:
    """Return the URLs and data in a curl command, without headers and passwords, which are intended for the server."""
    arguments = read_curl(command)
    sent = [value for name, value in arguments.options if name in CURL_SENDS and value]
    return [*arguments.operands, *sent]


def _searches(command: Command, *, is_fed: bool) -> Iterator[Effect]:
    """Yield an effect for searches such as `grep -r password /srv`, `env | grep TOKEN` and `find / -name id_rsa`."""
    message = ""
    if command.name in _SEARCHERS:
        arguments = read_arguments(command.arguments, short="efmABC", long=("include", "exclude"))
        sought = arguments.value("e", "regexp") or next(iter(arguments.operands), None)
        is_wide = is_fed or command.name in ("rg", "ag") or arguments.has("r", "R", "recursive")
        if is_wide and sought and PATTERNS["searched"].search(sought.literal or ""):
            message = f"Searches files for secrets ({show(sought)}) and prints the matches."
    elif command.name in ("find", "locate", "plocate", "fd"):
        for word in command.arguments[:MAXIMUM_WORDS]:
            text = word.literal or ""
            kind = not text.startswith("/") and (secret_kind(text) or secret_kind(text.strip("*")))
            message = f"Searches for files with {kind} ({show(word)})." if kind else message
    if message:
        yield Effect("reads_secrets", Level.WARNING, message, command.span)


def _sent(kinds: dict[int, str], program: Program, level: Level = Level.ERROR) -> Iterator[Effect]:
    """Yield an effect for each command that sends secrets to another machine, or bulk data at a lower level."""
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
    words = Flow(program, kinds)
    pipes = words if is_bulk else Flow(program, kinds | _printed_secrets(program))
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
                    message = f"Sends the output of a command in the URL {show(word)}."
                    yield Effect("exfiltration", Level.WARNING, message, command.span)


def _published(command: Command, program: Program, kinds: dict[int, str]) -> Iterator[Effect]:
    """Yield an effect if secrets or whole folders are copied or linked to a folder that a web server serves."""
    words = command.arguments[:MAXIMUM_WORDS]
    targets = [r.word for r in command.redirects if r.kind in ("write", "append")]
    is_copy = command.name in _COPIERS or command.name == "ln"
    targets += words[-1:] if is_copy else words if command.name in WORDS["bulk-readers"] else ()
    if not any(PATTERNS["web-root"].search(program.variables.worst(word)) for word in targets):
        return
    kind = kinds.get(id(command))
    for word in words[:-1] if is_copy else ():
        kind = kind or _kind_of(word, program)
        kind = kind or ("a private folder" if PATTERNS["bulk"].fullmatch(word.prefix) else None)
    if kind:
        message = f"Puts {kind} in a folder that a web server makes public."
        yield Effect("exfiltration", Level.ERROR, message, command.span)


def _files_sent(command: Command) -> Iterator[Word]:
    """Yield the files that the command sends to another machine. Copy commands are not covered."""
    if command.name == "curl":
        for option, value in read_curl(command).options:
            found = PATTERNS["curl-file"].match(f"{option}={value.prefix}") if value else None
            if value and found and value.literal not in ("-", ".", "@-"):
                yield value.without_prefix(found.end() - len(option) - 1)
    elif command.name == "wget":
        sent = ("post-file", "body-file")
        arguments = read_arguments(command.arguments, long=sent)
        yield from (value for option, value in arguments.options if option in sent and value)
    elif command.name in ("nc", "ncat", "netcat", "telnet"):
        yield from (r.word for r in command.redirects if r.kind == "read")


def _sends_files(command: Command, program: Program) -> Iterator[Effect]:
    """Yield an effect for a sent file without a known secret, because home folders and variables may contain
    secrets.
    """
    files = list(_files_sent(command))
    is_copy = not files and command.name in WORDS["copies-to-others"]
    if is_copy:
        operands = read_arguments(command.arguments, short=_VALUES.get(command.name, "")).operands
        last = (operands or command.words)[-1]
        is_remote = _REMOTE.match(last.literal or last.span.text)
        files = [w for w in operands[:-1] if is_remote and not _REMOTE.match(w.span.text)]
        if command.name not in ("scp", "rsync", "sftp"):
            files = files[-1:] if WORDS["copying"] & {word.literal for word in operands} else []
    for word in files[:MAXIMUM_WORDS]:
        path = program.variables.worst(word)
        is_private = bool(PATTERNS["home-content"].search(path))
        level = Level.ERROR if is_private and not is_copy else Level.WARNING
        if is_copy and not is_private and word.literal is not None:
            level = Level.INFO
        message = f"Sends the file {show(word)} to another machine ({command.name})."
        yield Effect("exfiltration", level, message, command.span)
        return


def _find_bulk(program: Program) -> dict[int, str]:
    """Return the commands, by id, that output whole databases, disks or folders, or files that contain them."""
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
    """Return whether the command sends data to an arbitrary address. Backups usually go to named hosts over SSH."""
    words = [*command.arguments, *(redirect.word for redirect in command.redirects)]
    is_bare = any(PATTERNS["stranger"].search(word.literal or "") for word in words)
    return is_bare or command.name in WORDS["bulk-senders"]


def _printed_secrets(program: Program) -> dict[int, str]:
    """Return the commands, by id, that read secrets according to a rule."""
    return {
        id(command): "secrets that another command reads"
        for command in program.commands
        if command.context.pipes
        and any(e.code == "reads_secrets" for e in find_subcommand_effects(command, program))
    }


def _is_dump(command: Command) -> bool:
    """Return whether the command prints all variables or the command history."""
    texts = [word.literal for word in command.arguments]
    if command.name in ("export", "declare", "typeset"):
        return texts in (["-p"], ["-x"])
    return command.name in ("env", "printenv", "set", "history") and not texts


def _sends_its_files(command: Command) -> bool:
    """Return whether the command sends the files that it reads to another machine."""
    if command.name in ("scp", "rsync", "sftp"):
        target = command.words[-1]
        return ":" in (target.literal or target.span.text)
    if command.name == "wget":
        return any(word.prefix.startswith(("--post-", "--body-")) for word in command.arguments)
    return command.name != "curl" or bool(read_curl(command).names & CURL_SENDS)


def _sends_input(command: Command) -> bool:
    return any(word.prefix.endswith(("-", "/dev/stdin")) for word in _curl_data(command))


def _data_words(command: Command) -> Iterator[Word]:
    """Yield the words that the command sends to another machine as data."""
    if command.name == "curl":
        yield from _curl_data(command)
    elif command.name != "ssh":
        yield from (word for word in command.arguments if not word.prefix.startswith("--header"))
    if command.fed_text:
        yield command.fed_text


def _dns_queries(program: Program) -> Iterator[Effect]:
    """Yield an effect for commands such as `dig $(base64 file).example.com`, which send data in a DNS query."""
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
                message = f"Sends data in a DNS query ({show(word)})."
                yield Effect("exfiltration", Level.ERROR, message, command.span)
                break
