"""Commands that talk to other machines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from catalog.analysis.risk.effects import Effect
from catalog.analysis.shell.arguments import Arguments, read_arguments
from catalog.analysis.shell.command_words import show, show_text
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.program import Program
from catalog.analysis.shell.wrappers import SHELLS, read_ssh
from catalog.analysis.types import Level
from catalog.analysis.word_sets import word_set

_ALWAYS = word_set(
    """
    curl wget fetch aria2c lynx http https xh ssh scp sftp nc ncat netcat socat telnet ftp lftp
    tftp dig host nslookup drill whois ping ping6 traceroute tracepath mtr nmap arping rclone
    s3cmd aws gcloud gsutil az kubectl oc helm mail mailx sendmail swaks mosh autossh
    ssh-copy-id sshpass ansible ansible-playbook terraform tofu gh doctl
    """
)
_WITH_SUBCOMMAND = {
    "git": {"clone", "pull", "push", "fetch", "ls-remote", "submodule"},
    "docker": {"pull", "push", "login", "search"},
    "podman": {"pull", "push", "login", "search"},
    "apt": {"update", "install", "upgrade", "full-upgrade", "dist-upgrade"},
    "apt-get": {"update", "install", "upgrade", "dist-upgrade", "download"},
    "yum": {"install", "update", "upgrade"},
    "dnf": {"install", "update", "upgrade"},
    "apk": {"add", "update", "upgrade"},
    "pip": {"install", "download"},
    "pip3": {"install", "download"},
    "npm": {"install", "ci", "i", "publish", "update"},
    "snap": {"install", "refresh"},
    "openssl": {"s_client"},
}
_URL = re.compile(r"\b(?:https?|ftp|ws|wss|s3)://(?:[^\s/@'\"]*@)?([^\s/'\":?#]+)")
_SOCKET = re.compile(r"^/dev/(?:tcp|udp)/")


def find_network_use(command: Command, program: Program) -> Iterator[Effect]:
    """Where the command connects to, as far as it says so."""
    name = command.name
    sockets = [r.word for r in command.redirects if _SOCKET.match(r.word.prefix)]
    for word in sockets[:1]:
        yield Effect("network", Level.WARNING, f"Opens a connection to {show(word)}.", word.span)
    if sockets and name in SHELLS:
        message = "Lets whoever is at the other end of the connection run commands here."
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
    """curl with a method other than GET, or with data."""
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


CURL_SENDS = frozenset(
    {"d", "F", "T", "data", "form", "upload-file", "json"}
    | {"data-raw", "data-binary", "data-urlencode", "data-ascii", "form-string"}
)
_CURL_SHORT = "AbCcDdeEFHhKmoPQrtTuUwxXyYz"
_CURL_LONG = CURL_SENDS | word_set(
    """
    request header output user user-agent max-time connect-timeout retry retry-delay url
    write-out retry-max-time cookie cookie-jar cacert cert key resolve proxy referer interface
    range limit-rate config output-dir
    """
)


def read_curl(command: Command) -> Arguments:
    """curl's options and addresses."""
    return read_arguments(command.arguments, short=_CURL_SHORT, long=_CURL_LONG)
