"""Determine the side effects of commands that need their own rules, such as find, sed, awk, curl and SQL clients."""

from __future__ import annotations

import re
from collections.abc import Callable

from catalog.analysis.read_only.languages import awk_only_prints, sed_only_prints, sql_only_reads
from catalog.analysis.risk.databases import sql_of, strip_sql
from catalog.analysis.risk.effects import is_harmless_target
from catalog.analysis.risk.network import CURL_SENDS, read_curl
from catalog.analysis.shell.arguments import read_arguments
from catalog.analysis.shell.commands import Command
from catalog.analysis.tables import WORDS, word_set
from catalog.analysis.types import SideEffect

_READS, _WRITES, _UNKNOWN = SideEffect.READ_ONLY, SideEffect.MUTATING, SideEffect.UNKNOWN

_FIND_VALUED = WORDS["find-tests-with-value"]
_FIND_PLAIN = WORDS["find-tests"]
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_FIND_WRITES = frozenset({"-delete", "-fprint", "-fprint0", "-fprintf", "-fls"})


def _find(command: Command) -> SideEffect:
    waiting = iter(command.arguments)
    is_expression = False  # false while reading the starting folders
    for word in waiting:
        text = word.literal
        if text in _FIND_WRITES:
            return _WRITES
        if text in _FIND_VALUED:
            next(waiting, None)
        elif text in _FIND_RUNS:  # the command that it runs is analyzed separately
            end = next((other for other in waiting if other.literal in (";", "+")), None)
            if end is None:  # if the end is known only at run time, later actions are hidden
                return _UNKNOWN
        elif word.has_unquoted_expansion or (
            word.prefix.startswith("-") and text not in _FIND_PLAIN
        ):
            return _UNKNOWN
        is_expression = is_expression or word.prefix.startswith("-")
        if is_expression and not word.prefix:
            return _UNKNOWN  # the word may be any action
    return _READS


def _sed(command: Command) -> SideEffect:
    arguments = read_arguments(command.arguments, short="efl", long=("expression", "file"))
    if arguments.has("i", "in-place"):
        return _WRITES
    known = {"n", "E", "r", "s", "u", "z", "e", "expression", "quiet", "silent", "regexp-extended"}
    scripts = [value for name, value in arguments.options if name in ("e", "expression")]
    if not scripts:
        scripts = list(arguments.operands[:1])
    texts = [script.literal for script in scripts if script is not None]
    if not texts or not arguments.names <= known or not arguments.is_certain:
        return _UNKNOWN
    return _READS if all(text is not None and sed_only_prints(text) for text in texts) else _UNKNOWN


def _awk(command: Command) -> SideEffect:
    arguments = read_arguments(
        command.arguments, short="Fvf", long=("field-separator", "assign"), stop_at_operand=True
    )
    program = arguments.operands[0].literal if arguments.operands else None
    if program is None or not arguments.names <= {"F", "v", "field-separator", "assign"}:
        return _UNKNOWN
    return _READS if awk_only_prints(program) else _UNKNOWN


_CURL_READS = WORDS["curl-reads"]


def _curl(command: Command) -> SideEffect:
    arguments = read_curl(command)
    outputs = [word for name, word in arguments.options if name in ("o", "output")]
    if arguments.has("O", "remote-name") or not all(
        w and _is_discarded(w.literal) for w in outputs
    ):
        return _WRITES
    method = arguments.value("X", "request")
    if method is not None and (method.literal or "").upper() not in ("GET", "HEAD", "OPTIONS"):
        return _WRITES if method.literal else _UNKNOWN
    if arguments.names & CURL_SENDS and not arguments.has("G", "get"):
        return _WRITES
    return _READS if arguments.names <= _CURL_READS and arguments.is_certain else _UNKNOWN


def _is_discarded(path: str | None) -> bool:
    return path == "-" or (path is not None and is_harmless_target(path))


def _wget(command: Command) -> SideEffect:
    arguments = read_arguments(
        command.arguments, short="OoPtTU", long=("output-document", "tries", "timeout")
    )
    target = arguments.value("O", "output-document")
    known = word_set("q O S t T U spider quiet output-document tries timeout server-response")
    known |= word_set("no-check-certificate no-verbose nv max-redirect")
    only_reads = arguments.has("spider") or (target is not None and _is_discarded(target.literal))
    return _READS if only_reads and arguments.names <= known else _WRITES


def _tar(command: Command) -> SideEffect:
    first = (command.arguments[0].literal or "") if command.arguments else ""
    letters = first.removeprefix("-")
    if first == "--list" or (re.fullmatch(r"[tvfzjJa]+", letters) and "t" in letters):
        further = [word.prefix for word in command.arguments[1:] if word.prefix.startswith("-")]
        return _READS if all(re.fullmatch(r"-[tvfzjJaC]+", text) for text in further) else _UNKNOWN
    return _WRITES


def _tee(command: Command) -> SideEffect:
    targets = read_arguments(command.arguments).operands
    return _READS if all(_is_discarded(word.literal) for word in targets) else _WRITES


def _sysctl(command: Command) -> SideEffect:
    arguments = read_arguments(command.arguments)
    if any("=" in word.prefix for word in arguments.operands) or not arguments.names <= set("anNe"):
        return _WRITES
    return _READS if arguments.is_certain else _UNKNOWN


def _sql(command: Command) -> SideEffect:
    arguments = read_arguments(command.arguments, short="cdhpUevPDuRF")
    texts = [strip_sql(word) for word in sql_of(command)]
    if not texts and arguments.has("l", "list", "version", "V"):
        return _READS
    if not texts or arguments.has("f", "file", "o", "output", "L", "log-file"):
        return _UNKNOWN
    if any(word.variables or word.outputs for word in sql_of(command)):
        return _UNKNOWN
    return _READS if all(sql_only_reads(text) for text in texts) else _UNKNOWN


_OPENSSL_COMMANDS = WORDS["openssl-commands"]
_OPENSSL_READS = WORDS["openssl-reads"]


def _openssl(command: Command) -> SideEffect:
    words = command.arguments
    if not words or words[0].literal not in _OPENSSL_COMMANDS:
        return _UNKNOWN
    names = read_arguments(words[1:], single_dash=True).names
    return _READS if names <= _OPENSSL_READS else _UNKNOWN


def _perl(command: Command) -> SideEffect | None:
    """Return the side effect of perl. `perl -i` rewrites files, and other uses have an unknown effect."""
    first = [word.prefix for word in command.arguments if word.prefix.startswith("-")]
    return _WRITES if any(re.match(r"-[acFlnpsw0-7]*i", text) for text in first) else None


def _git_lists(command: Command) -> SideEffect | None:
    """Return the side effect of git branch, tag, remote and config, which list data unless an operand changes it."""
    arguments = read_arguments(command.arguments, short="C")
    subcommand, operands = "".join(arguments.subcommands[:1]), arguments.operands[1:]
    lists = word_set(
        """
    a r v l C list all remotes show-current get get-all show-origin n
    """
    )
    if subcommand in ("branch", "tag", "remote") and not operands and arguments.names <= lists:
        return _READS
    is_listed = bool(arguments.names & {"get", "get-all", "list", "l"}) and arguments.names <= lists
    return _READS if subcommand == "config" and is_listed else None


SPECIAL: dict[str, Callable[[Command], SideEffect | None]] = {
    "find": _find,
    "perl": _perl,
    "sed": _sed,
    "curl": _curl,
    "wget": _wget,
    "tar": _tar,
    "tee": _tee,
    "sysctl": _sysctl,
    "openssl": _openssl,
    "git": _git_lists,
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _awk),
    **dict.fromkeys(("psql", "mysql", "mariadb", "sqlite3"), _sql),
}
