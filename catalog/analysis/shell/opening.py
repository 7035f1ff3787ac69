"""Sees through commands that run other commands: sudo, xargs, `find -exec`, `bash -c`, ssh, ..."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from catalog.analysis.shell.arguments import read_arguments
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.words import Word

SSH_VALUES = "BbcDEeFIiJLlmOoPpQRSWw"  # the letters of ssh's options with a value
SHELLS = frozenset({"bash", "sh", "dash", "zsh", "ksh", "ash", "rbash"})


@dataclass(frozen=True, slots=True)
class ShellText:
    """Words whose text, joined by blanks, a shell will read as commands."""

    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Starter:
    """How a command that runs another is written: its options that take a value, then operands."""

    short: str = ""
    long: frozenset[str] = frozenset()
    operands: int = 0  # how many of its own stand before the command
    adds_operands: bool = False  # the command gets further ones at run time


def _long(names: str) -> frozenset[str]:
    return frozenset(names.split())


_EXEC_IN = _long("env env-file workdir user index container namespace context kubeconfig cluster")
STARTERS: dict[str, Starter] = {
    "sudo": Starter(
        "CDghpRrTtUu", _long("user group host prompt role type chdir chroot close-from")
    ),
    "doas": Starter("uC"),
    "pkexec": Starter("", _long("user")),
    "env": Starter("uC", _long("unset chdir")),
    "nice": Starter("n", _long("adjustment")),
    "ionice": Starter("cnpPu", _long("class classdata")),
    "nohup": Starter(),
    "setsid": Starter(),
    "command": Starter(),
    "builtin": Starter(),
    "exec": Starter("a"),
    "coproc": Starter(),
    "sshpass": Starter("pfdP"),
    "{": Starter(),
    "!": Starter(),
    "time": Starter("fo", _long("format output")),
    "timeout": Starter("ks", _long("kill-after signal"), operands=1),
    "stdbuf": Starter("ioe", _long("input output error")),
    "unbuffer": Starter(),
    "chroot": Starter("", _long("userspec groups"), operands=1),
    "flock": Starter("wE", _long("timeout wait conflict-exit-code"), operands=1),
    "taskset": Starter(operands=1),
    "chrt": Starter(operands=1),
    "strace": Starter("eopsuaPSXE"),
    "ltrace": Starter("eopsua"),
    "caffeinate": Starter("tw"),
    "busybox": Starter(),
    "runuser": Starter("ugGs", _long("user group shell")),
    "setpriv": Starter("", _long("reuid regid groups")),
    "unshare": Starter("SGRw", _long("root wd")),
    "nsenter": Starter("tSGr", _long("target")),
    "systemd-run": Starter("HMptuE", _long("unit property description slice uid gid on-calendar")),
    "xargs": Starter(
        "adEILnPs",
        _long("arg-file delimiter max-args max-procs replace max-lines max-chars"),
        adds_operands=True,
    ),
    "parallel": Starter(
        "jaINnLP", _long("jobs arg-file max-args colsep timeout"), adds_operands=True
    ),
}
# Those whose command stands after a subcommand: docker exec NAME COMMAND.
_CONTAINER_SHORT = "ehiuvwpmlc"
CONTAINERS = frozenset(
    {"docker", "podman", "nerdctl", "kubectl", "oc", "docker-compose", "lxc", "crictl"}
)


def open_command(command: Command) -> Iterator[Command | ShellText]:
    """The commands that this one starts, and the texts that it has a shell read; often nothing."""
    name, words = command.name, command.arguments
    if name in SHELLS:
        yield from _open_shell(command)
    elif name in ("su", "runuser", "script", "flock") and (text := _option_c(words)):
        yield ShellText((text,))
    elif name == "su":
        yield from _open_su(command)
    elif name == "ssh":
        yield from _open_ssh(command)
    elif name == "find":
        yield from _open_find(command)
    elif name == "eval" and words:
        yield ShellText(words)
    elif name == "trap" and words and words[0].literal not in ("-", "", "-p", "-l"):
        yield ShellText(words[:1])
    elif name == "alias":
        for word in words:
            if "=" in word.prefix:
                yield ShellText((word.without_prefix(word.prefix.index("=") + 1),))
    elif name == "watch":
        operands = read_arguments(
            words, short="n", long=("interval",), stop_at_operand=True
        ).operands
        if operands:
            yield ShellText(operands)
    elif name in CONTAINERS:
        yield from _open_container(command)
    elif name in STARTERS:
        yield from _open_starter(command, STARTERS[name])


def _open_starter(command: Command, starter: Starter) -> Iterator[Command | ShellText]:
    arguments = read_arguments(
        command.arguments, short=starter.short, long=starter.long, stop_at_operand=True
    )
    if command.name == "env" and (text := arguments.value("S", "split-string")):
        yield ShellText((text, *arguments.operands))
        return
    words = arguments.operands
    if command.name in ("env", "sudo"):
        while words and re.match(r"\w+=", words[0].prefix):
            words = words[1:]
    words = words[starter.operands :]
    if command.name == "command" and arguments.has("v", "V"):
        return
    if words:
        yield command.starting(words, takes_more=starter.adds_operands)
    elif command.name == "sudo" and command.fed_text and arguments.has("s", "i"):
        yield ShellText((command.fed_text,))


def _open_shell(command: Command) -> Iterator[ShellText]:
    arguments = read_arguments(
        command.arguments, short="Oo", long=("rcfile", "init-file"), stop_at_operand=True
    )
    if arguments.has("c"):
        yield from (ShellText((text,)) for text in arguments.operands[:1])
    elif command.fed_text and (arguments.has("s") or not arguments.operands):
        yield ShellText((command.fed_text,))


def _option_c(words: tuple[Word, ...]) -> Word | None:
    """The value of -c or --command, wherever it stands."""
    for word, following in zip(words, words[1:], strict=False):
        if word.literal in ("-c", "--command", "-lc"):
            return following
    for word in words:
        if word.prefix.startswith("--command="):
            return word.without_prefix(len("--command="))
    return None


def _open_su(command: Command) -> Iterator[ShellText]:
    if command.fed_text:
        yield ShellText((command.fed_text,))


def _open_ssh(command: Command) -> Iterator[ShellText]:
    arguments = read_arguments(command.arguments, short=SSH_VALUES, stop_at_operand=True)
    remote = arguments.operands[1:]
    if remote:
        yield ShellText(remote)
    elif command.fed_text:
        yield ShellText((command.fed_text,))


def _open_find(command: Command) -> Iterator[Command]:
    words = command.arguments
    for start, word in enumerate(words):
        if word.literal not in ("-exec", "-execdir", "-ok", "-okdir"):
            continue
        ends = (end for end in range(start + 1, len(words)) if words[end].literal in (";", "+"))
        started = words[start + 1 : next(ends, len(words))]
        if started:
            yield command.starting(started, takes_more=True)


def _open_container(command: Command) -> Iterator[Command]:
    arguments = read_arguments(
        command.arguments, short=_CONTAINER_SHORT, long=_EXEC_IN, stop_at_operand=True
    )
    words = arguments.operands
    if words and words[0].literal == "compose":
        words = words[1:]
    if not words or words[0].literal not in ("exec", "run"):
        return
    # kubectl writes `exec POD -- COMMAND`, with options anywhere before the dashes.
    dashes = [place for place, word in enumerate(words) if word.literal == "--"]
    has_dashes = bool(dashes) and command.name in ("kubectl", "oc", "lxc")
    started = words[dashes[0] + 1 :] if has_dashes else _after_container(words)
    if started:
        yield command.starting(started)


def _after_container(words: tuple[Word, ...]) -> tuple[Word, ...]:
    short = "euw" if words[0].literal == "exec" else "aehlmpuvwc"
    inner = read_arguments(words[1:], short=short, long=_RUN_VALUES, stop_at_operand=True)
    return inner.operands[1:]


_RUN_VALUES = _EXEC_IN | _long(
    "name network volume mount publish label entrypoint hostname memory cpus restart add-host"
    " cap-add cap-drop device dns expose ip link log-driver pid platform pull security-opt shm-size"
    " stop-signal tmpfs ulimit userns volumes-from net gpus"
)
