"""Find commands that connect to other machines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from catalog.analysis.risk.effects import Effect
from catalog.analysis.shell.arguments import Arguments, read_arguments
from catalog.analysis.shell.command_words import show, show_text
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.interpreters import SHELLS
from catalog.analysis.shell.program import Program
from catalog.analysis.shell.wrappers import read_ssh
from catalog.analysis.tables import WORDS, word_map
from catalog.analysis.types import Level

_ALWAYS = WORDS["connecting"]
_WITH_SUBCOMMAND = {
    name: set(verbs.split("|")) for name, verbs in word_map("connecting-subcommands").items()
}
_URL = re.compile(r"\b(?:https?|ftp|ws|wss|s3)://(?:[^\s/@'\"]*@)?([^\s/'\":?#]+)")
_SOCKET = re.compile(r"^/dev/(?:tcp|udp)/")


def find_network_use(command: Command, program: Program) -> Iterator[Effect]:
    """Yield effects for the command's network connections, with the host if the script contains it."""
    name = command.name
    sockets = [r.word for r in command.redirects if _SOCKET.match(r.word.prefix)]
    for word in sockets[:1]:
        yield Effect("network", Level.WARNING, f"Opens a connection to {show(word)}.", word.span)
    if sockets and name in SHELLS:
        message = "Lets the remote machine run commands on this machine."
        yield Effect("remote_code", Level.ERROR, message, command.span)
    verbs = _WITH_SUBCOMMAND.get(name, set())
    uses_verb = bool(verbs) and bool(verbs & {word.literal for word in command.arguments[:4]})
    if name not in _ALWAYS and not uses_verb and not _is_remote_copy(command):
        return
    if any(word.literal in ("--version", "--help", "-V") for word in command.arguments):
        return
    message = f"Connects to {_host(command) or 'another machine'} ({show_text(name)})."
    yield Effect("network", Level.INFO, message, command.span)
    yield from _request_that_changes(command)


def _is_remote_copy(command: Command) -> bool:
    return command.name == "rsync" and any(
        re.match(r"(?:[\w.@$-]+:|rsync://)", word.literal or word.span.text.strip("\"'"))
        for word in command.arguments
        if not word.prefix.startswith("-")
    )


def _host(command: Command) -> str:
    for word in command.arguments:
        if found := _URL.search(word.literal or word.span.text):
            return show_text(found[1])
    if command.name in ("ssh", "ping", "telnet", "nc", "dig", "host", "nslookup"):
        arguments = read_ssh(command)
        return show(arguments.operands[0]).rpartition("@")[2] if arguments.operands else ""
    return ""


def _request_that_changes(command: Command) -> Iterator[Effect]:
    """Yield the effect of a curl request that sends data or has a method other than GET."""
    if command.name != "curl":
        return
    arguments = read_curl(command)
    method = arguments.value("X", "request")
    verb = (method.literal or "").upper() if method else ""
    if verb == "DELETE":
        message = "Asks the server to delete something."
        yield Effect("destructive", Level.WARNING, message, command.span)
    elif verb not in ("", "GET", "HEAD", "OPTIONS") or (
        arguments.names & CURL_SENDS and not arguments.has("G", "get")
    ):
        yield Effect("mutating", Level.INFO, "Sends data to the server.", command.span)


CURL_SENDS = WORDS["curl-sends"]
_CURL_SHORT = "AbCcDdeEFHhKmoPQrtTuUwxXyYz"
_CURL_LONG = CURL_SENDS | WORDS["curl-values"]


def read_curl(command: Command) -> Arguments:
    """Return curl's options and URLs."""
    return read_arguments(command.arguments, short=_CURL_SHORT, long=_CURL_LONG)
