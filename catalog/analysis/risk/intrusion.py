"""Find back doors, removed traces and outages that the rules for tools and paths don't cover."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from catalog.analysis.risk.effects import Code, Effect
from catalog.analysis.shell.arguments import read_arguments
from catalog.analysis.shell.command_words import Word, show
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.fragments import Span, Unit
from catalog.analysis.shell.inline_code import code_of, read_code
from catalog.analysis.shell.interpreters import SHELLS, is_language
from catalog.analysis.shell.program import Program
from catalog.analysis.tables import PATTERNS, WORDS
from catalog.analysis.types import Level

_NETCATS = frozenset({"nc", "ncat", "netcat", "socat", "telnet", "s_client"})
_REMOTE_SHELL = "Lets the remote machine run commands on this machine."
_NO_HISTORY = frozenset({"", "0", "/dev/null", "*"})


def find_intrusions(command: Command, program: Program) -> Iterator[Effect]:
    """Yield a command's effects that open access, hide traces, or stop the machine."""
    name, words = command.name, command.arguments
    texts = [word.literal or "" for word in words]
    written = words if name in ("echo", "printf") else ()
    for word in (*written, *filter(None, [command.fed_text])):
        if not command.is_opened and (found := PATTERNS["shells"].search(read_code(word))):
            yield _effect("back_door", word.span_of(*found.span()), _REMOTE_SHELL)
    if name in _NETCATS or (name == "openssl" and "s_client" in texts):
        yield from _hands_over_shell(command)
    elif is_language(name):
        for word in code_of(command):
            code = read_code(word)
            if PATTERNS["sockets"].match(code):
                yield _effect("back_door", word.span, _REMOTE_SHELL)
            fetches = PATTERNS["fetches"].search(command.span.text[:4_000] + code)
            if fetches and (found := PATTERNS["runs"].search(code)):
                message = "Runs what the code gets from another machine without review."
                yield _effect("remote_code", word.span_of(*found.span()), message)
    elif name not in WORDS["searchers"] and any(map(PATTERNS["mines"].search, texts)):
        yield _effect("outage", command.span, "Uses this machine to mine cryptocurrency.")
    elif name in ("useradd", "usermod", "adduser"):
        uids = read_arguments(words, short="uGgdscpefk", long=("uid",)).value("u", "uid")
        if uids is not None and uids.literal == "0":
            yield _effect("back_door", command.span, "Gives an account root privileges (UID 0).")
    elif name == "setcap" and any("setuid" in text or "sys_admin" in text for text in texts):
        message = "Lets everyone who runs the program become root."
        yield _effect("back_door", command.span, message)
    elif name == "kill" and _ends_everything(texts):
        message = "Ends every process, or process 1, on which all others depend."
        yield _effect("outage", command.span, f"{message} Name the process that you mean.")
    elif name == "ssh" and any(re.match(r"-\w*R", word.prefix) for word in words):
        message = "Opens access to this machine from the remote machine (ssh -R)."
        yield Effect("network", Level.WARNING, message, command.span)
    elif (name == "unset" and any(map(PATTERNS["history"].fullmatch, texts))) or (
        name == "set" and ("+o", "history") in pairwise(texts)
    ):
        yield _hides_history(command.span)


def _effect(code: Code, span: Span, message: str) -> Effect:
    return Effect(code, Level.ERROR, message, span)


def _hides_history(span: Span) -> Effect:
    return _effect("hidden_traces", span, "Stops the shell from recording its history.")


def _hands_over_shell(command: Command) -> Iterator[Effect]:
    for word, following in pairwise((*command.words, command.words[0])):
        text, after = word.prefix, following.literal or ""
        starts = re.match(r"(?:EXEC|SYSTEM|SHELL):", text, re.IGNORECASE) or (
            text.startswith(("--exec", "--sh-exec", "--lua-exec"))
            or re.fullmatch(r"-\w*[ec]", text)
            and re.search(r"(?:^|/)(?:(?:ba|da|z|k|a)?sh|cmd|python\d?|perl)\b", after)
        )
        if starts:
            yield _effect("back_door", command.span, _REMOTE_SHELL)
            return


def find_piped_shells(program: Program) -> Iterator[Effect]:
    """Yield effects for pipelines such as `sh -i | nc host 4444`, in either order, and for variables that disable the
    history.
    """
    shells: set[tuple[Unit, int]] = set()
    for command in program.commands:
        is_shell = command.name in SHELLS and not command.is_opened
        if is_shell and all(word.prefix[:1] == "-" for word in command.arguments):
            shells |= {(unit, start) for unit, start, _ in command.context.pipes}
    for command in program.commands if shells else ():
        pipes = {(unit, start) for unit, start, _ in command.context.pipes}
        is_net = command.name in _NETCATS or (
            command.name == "openssl" and command.has_option("s_client")
        )
        if is_net and pipes & shells:
            yield _effect("back_door", command.span, _REMOTE_SHELL)
    variables = [*program.assignments, *(a for c in program.commands for a in c.assignments)]
    for assignment in variables:
        value = assignment.value.literal if assignment.value else ""
        if PATTERNS["history"].fullmatch(assignment.name) and value in _NO_HISTORY:
            yield _hides_history(assignment.span)


def _ends_everything(texts: list[str]) -> bool:
    """Return whether kill ends all processes, as in `kill -9 -1` and `kill 1`. A first word that begins with a dash is
    the signal.
    """
    signals = {text.lstrip("-").upper().removeprefix("SIG") for text in texts[:-1]}
    harmless = signals & {"0", "1", "HUP", "USR1", "USR2", "WINCH", "L"}
    return "-1" in texts[1:] or (texts[-1:] == ["1"] and not harmless)


def grants_all_rights(word: Word) -> bool:
    """Return whether the text is a sudoers line that allows every command without a password."""
    return bool(re.search(r"NOPASSWD:\s*ALL|!authenticate", " ".join(word.texts) or show(word)))
