"""Sees through commands that run other commands: sudo, xargs, `find -exec`, `bash -c`, ssh, ..."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from catalog.analysis.shell.arguments import Arguments, read_arguments
from catalog.analysis.shell.command_words import Word
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.inline_code import INTERPRETERS, shell_texts

SSH_VALUES = "BbcDEeFIiJLlmOoPpQRSWw"  # the letters of ssh's options with a value
STANDARD_INPUT = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})
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
_CONTAINER_LONG = _EXEC_IN | _long(
    "host log-level config project-name project-directory file profile server token connection url"
    " ansi parallel"
)
STARTERS: dict[str, Starter] = {
    "sudo": Starter(
        "CDghpRrTtUu", _long("user group host prompt role type chdir chroot close-from")
    ),
    "doas": Starter("uC"),
    "pkexec": Starter("", _long("user")),
    "env": Starter("uCS", _long("unset chdir")),
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
        _long("arg-file delimiter max-args max-procs max-lines max-chars"),
        adds_operands=True,
    ),
    "parallel": Starter(
        "jaINnLP", _long("jobs arg-file max-args colsep timeout"), adds_operands=True
    ),
}
# Those whose command stands after a subcommand: docker exec NAME COMMAND.
_RUNS_INSIDE = frozenset({"exec", "run", "rsh", "debug"})
_CONTAINER_SHORT = {
    "docker": "Hlc",
    "podman": "c",
    "nerdctl": "aHn",
    "kubectl": "nsvcfl",
    "oc": "nsvcfl",
    "docker-compose": "fpH",
    "crictl": "cirt",
}
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
        yield ShellText(_after_dashes(words))
    elif name == "trap" and words and words[0].literal not in ("-", "", "-p", "-l"):
        yield ShellText(_after_dashes(words)[:1])
    elif name in ("source", ".") and words and words[0].literal in STANDARD_INPUT - {"-"}:
        if command.fed_text:
            yield ShellText((command.fed_text,))
    elif name in ("at", "batch") and command.fed_text:
        yield ShellText((command.fed_text,))
    elif name in INTERPRETERS:
        for text in shell_texts(command):
            yield ShellText((text,))
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
    for placeholder in _placeholders(command, arguments):
        words = tuple(word.with_input(placeholder) for word in words)
    if command.name == "parallel" and (text := _parallel_text(words)):
        yield ShellText((text,))
    elif words:
        yield command.starting(words, takes_more=starter.adds_operands)
    elif command.name == "sudo" and command.fed_text and arguments.has("s", "i"):
        yield ShellText((command.fed_text,))


def _placeholders(command: Command, arguments: Arguments) -> tuple[str, ...]:
    """What stands in the words of xargs or parallel for a part of their input."""
    if command.name == "parallel":
        return ("{}", "{.}", "{/}", "{//}", "{/.}", "{#}", "{%}", "{1}", "{2}", "{3}")
    if command.name != "xargs":
        return ()
    values = [
        value.literal if value is not None else None
        for name, value in arguments.options
        if name in ("I", "replace")
    ]
    # The value of -i is optional, so it can only be attached.
    attached = [
        found[1]
        for word in command.arguments
        if (found := re.match(r"-[0rtxp]*i(.*)", word.prefix, re.DOTALL))
    ]
    return tuple(dict.fromkeys(value or "{}" for value in (*values, *attached)))


def _parallel_text(words: tuple[Word, ...]) -> Word | None:
    """The one word before `:::` that parallel has a shell read."""
    is_one = len(words) == 1 or (len(words) > 1 and words[1].prefix.startswith("::"))
    return words[0] if is_one and re.search(r"\s", "".join(words[0].texts)) else None


def _open_shell(command: Command) -> Iterator[ShellText]:
    arguments = read_arguments(
        command.arguments, short="Oo", long=("rcfile", "init-file"), stop_at_operand=True
    )
    if arguments.has("c"):
        yield from (ShellText((text,)) for text in arguments.operands[:1])
    elif command.fed_text and (arguments.has("s") or _reads_input(arguments)):
        yield ShellText((command.fed_text,))


def _reads_input(arguments: Arguments) -> bool:
    return not arguments.operands or arguments.operands[0].literal in STANDARD_INPUT


def _option_c(words: tuple[Word, ...]) -> Word | None:
    """The value of -c or --command, wherever it stands."""
    for word, following in zip(words, words[1:], strict=False):
        if word.literal in ("-c", "--command", "-lc"):
            return following
    for word in words:
        if word.prefix.startswith("--command="):
            return word.without_prefix(len("--command="))
    return None


def _after_dashes(words: tuple[Word, ...]) -> tuple[Word, ...]:
    return words[1:] if words[0].literal == "--" else words


def _open_su(command: Command) -> Iterator[ShellText]:
    if command.fed_text:
        yield ShellText((command.fed_text,))


def read_ssh(command: Command) -> Arguments:
    """The options of ssh, before and after the host, which is the first of the operands."""
    before = read_arguments(command.arguments, short=SSH_VALUES, stop_at_operand=True)
    after = read_arguments(before.operands[1:], short=SSH_VALUES, stop_at_operand=True)
    return Arguments(
        (*before.options, *after.options),
        (*before.operands[:1], *after.operands),
        before.is_certain and after.is_certain,
    )


def _open_ssh(command: Command) -> Iterator[ShellText]:
    remote = read_ssh(command).operands[1:]
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
            words_run = tuple(word.with_input("{}") for word in started)
            yield command.starting(words_run, takes_more=True)


def _open_container(command: Command) -> Iterator[Command]:
    words = command.arguments
    # kubectl writes `exec POD -- COMMAND`, with options anywhere before the dashes.
    dashes = [place for place, word in enumerate(words) if word.literal == "--"]
    if dashes and command.name in ("kubectl", "oc", "lxc"):
        if any(word.literal in _RUNS_INSIDE for word in words[: dashes[0]]):
            started = words[dashes[0] + 1 :]
            if started:
                yield command.starting(started)
        return
    words = _container_operands(words, command.name)
    if words and words[0].literal in ("compose", "container"):
        words = _container_operands(words[1:], "docker-compose")
    if not words or words[0].literal not in _RUNS_INSIDE:
        return
    started = _after_container(words)
    if started:
        yield command.starting(started)


def _container_operands(words: tuple[Word, ...], name: str) -> tuple[Word, ...]:
    short = _CONTAINER_SHORT.get(name, "")
    return read_arguments(words, short=short, long=_CONTAINER_LONG, stop_at_operand=True).operands


def _after_container(words: tuple[Word, ...]) -> tuple[Word, ...]:
    short = "aehlmpuvw" if words[0].literal == "run" else "euwc"
    inner = read_arguments(words[1:], short=short, long=_RUN_VALUES, stop_at_operand=True)
    return inner.operands[1:]


_RUN_VALUES = _EXEC_IN | _long(
    "name network volume mount publish label entrypoint hostname memory cpus restart add-host"
    " cap-add cap-drop device dns expose ip link log-driver pid platform pull security-opt shm-size"
    " stop-signal tmpfs ulimit userns volumes-from net gpus"
)
