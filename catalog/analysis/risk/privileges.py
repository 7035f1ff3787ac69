"""Find commands that need, grant or revoke privileges, and writes to system folders."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from catalog.analysis.risk.effects import Code, Effect, is_protected, list_words
from catalog.analysis.risk.intrusion import grants_all_rights
from catalog.analysis.risk.paths import secret_kind, writing_rule
from catalog.analysis.shell.arguments import read_arguments
from catalog.analysis.shell.command_words import Word, show, show_text
from catalog.analysis.shell.commands import Command, RedirectKind
from catalog.analysis.shell.inline_code import read_code
from catalog.analysis.shell.program import Program
from catalog.analysis.shell.script_files import output_files
from catalog.analysis.shell.variables import SOMETHING
from catalog.analysis.shell.wrappers import STARTERS
from catalog.analysis.tables import PATTERNS, read_table
from catalog.analysis.types import Level

_RAISERS = ("sudo", "doas", "pkexec", "su", "runuser")
# The effects of programs that change accounts, and of programs that only root can use.
_ACCOUNTS = {name: text for name, _, text in read_table("shell/programs.txt", "accounts")}
_SYSTEM = {name: text for name, _, text in read_table("shell/programs.txt", "system")}
_SYMBOLIC_MODE = re.compile(r"(?P<who>[ugoa]*)[+=](?P<rights>[rwxXst]+)")
_MASKED = re.compile(r"-l|--list|--version|--help|-V|-h|-c|-S|--status")


def find_privileges(command: Command, program: Program) -> Iterator[Effect]:
    """Yield the effects of a command that uses or changes privileges."""
    name = command.name
    if name in _RAISERS:
        yield from _raise_rights(command)
    elif name in ("chmod", "install", "mkdir"):
        yield from _change_mode(command, program)
    elif name in ("chown", "chgrp", "setfacl"):
        yield from _change_access(command, program)
    elif name in _ACCOUNTS:
        yield _effect(command, Level.WARNING, _ACCOUNTS[name])
    elif name in _SYSTEM and command.arguments and not _only_asks(command):
        yield _effect(command, Level.INFO, _SYSTEM[name])
    elif name == "sysctl" and any(
        "=" in word.prefix or word.literal in ("-w", "-p") for word in command.arguments
    ):
        yield _effect(command, Level.INFO, "Changes kernel settings.")
    elif name in ("docker", "podman"):
        yield from _privileged_container(command)
    yield from _protected_writes(command, program)


def find_root_variables(program: Program) -> Iterator[Effect]:
    """Yield variables that may contain sudo, such as `[ $EUID = 0 ] || SUDO=sudo` and `${SUDO:-sudo}`."""
    held = [
        (assignment.name, assignment.span, word.literal or "")
        for assignment in program.assignments
        for word in assignment.values[:1]
        if program.variables.known(assignment.name) is None
    ]
    held += [(e.variable.name, e.span, e.variable.operand) for e in program.expansions]
    for name, span, text in held:
        first = text.strip("\"'").split(maxsplit=1)[:1]
        if first and first[0] in _RAISERS:
            message = f"May run commands as root ({show_text(name)} is {first[0]})."
            yield Effect("privileged", Level.INFO, message, span)


def _effect(command: Command, level: Level, message: str) -> Effect:
    return Effect("privileged", level, message, command.span)


def _only_asks(command: Command) -> bool:
    return all(_MASKED.fullmatch(word.prefix) for word in command.arguments)


def _raise_rights(command: Command) -> Iterator[Effect]:
    starter = STARTERS.get(command.name, STARTERS["runuser"])
    arguments = read_arguments(
        command.arguments, short=starter.short, long=starter.long, stop_at_operand=True
    )
    user = arguments.value("u", "user")
    if command.name == "su":
        named = [word for word in arguments.operands if word.literal != "-"]
        user = named[0] if named else None
    account = show(user) if user else "root"
    yield _effect(command, Level.INFO, f"Runs as {account} ({command.name}).")


def _change_mode(command: Command, program: Program) -> Iterator[Effect]:
    arguments = read_arguments(
        command.arguments, short="m" if command.name != "chmod" else "", long=("mode",)
    )
    mode_word = arguments.value("m", "mode")
    targets = arguments.operands
    if command.name == "chmod" and targets:
        mode_word, targets = targets[0], targets[1:]
    mode = (mode_word.literal or "") if mode_word else ""
    what = list_words(targets, otherwise="files")
    if _sets_id(mode):
        message = f"Lets every user run {what} with the privileges of the owner or group."
        is_shell = any(PATTERNS["becomes-root"].search(show(word)) for word in targets)
        code, level = ("back_door", Level.ERROR) if is_shell else ("privileged", Level.WARNING)
        yield Effect(cast(Code, code), level, message, command.span)
    elif _lets_all(mode, 2, "w"):
        yield _effect(command, Level.WARNING, f"Lets every user write to {what}.")
    if command.name == "chmod" and (_lets_all(mode, 4, "r") or _lets_all(mode, 1, "x")):
        yield from _open_secrets(command, targets, "every user", program)


def _change_access(command: Command, program: Program) -> Iterator[Effect]:
    """Yield an effect for `chown`, `chgrp` or `setfacl` that gives an account other than root access to a secret."""
    arguments = read_arguments(command.arguments, short="mM", long=("modify", "reference", "from"))
    given = arguments.value("m", "modify")
    if command.name != "setfacl":
        given = next(iter(arguments.operands), None)
    if given and not re.match(r"(?:root|0)?(?::|$)|.*:-+$|/", given.prefix):
        yield from _open_secrets(command, arguments.operands, given.prefix, program)


def _open_secrets(
    command: Command, targets: tuple[Word, ...], who: str, program: Program
) -> Iterator[Effect]:
    account = re.sub(r"^[ugo]:|:.*", "", who) or "/"
    for word in targets:
        path = program.variables.worst(word).rstrip(f"/{SOMETHING}")
        if (secret_kind(path) or path in ("/root", "~")) and f"/{account}" not in path:
            message = f"Lets {show_text(who)} access {show(word)}, which contains secrets."
            yield _effect(
                command, Level.WARNING, f"{message} Give each account only the files it needs."
            )
            return


def _sets_id(mode: str) -> bool:
    if re.fullmatch(r"[0-7]{4}", mode):
        return bool(int(mode[0]) & 6)
    return any("s" in clause["rights"] for clause in _SYMBOLIC_MODE.finditer(mode))


def _lets_all(mode: str, bit: int, letter: str) -> bool:
    if re.fullmatch(r"[0-7]{3,4}", mode):
        is_sticky = len(mode) == 4 and int(mode[0]) & 1
        return bool(int(mode[-1]) & bit) and not is_sticky
    return any(
        letter in clause["rights"].lower()
        and set(clause["who"] or ("u" if bit == 2 else "a")) & {"o", "a"}
        for clause in _SYMBOLIC_MODE.finditer(mode)
    )


def _privileged_container(command: Command) -> Iterator[Effect]:
    texts = [word.literal or word.prefix for word in command.arguments]
    mounts_root = any(re.match(r"(--volume=|-v=?)?/:", text) for text in texts)
    host = {"--privileged", "--pid=host", "--cap-add=ALL", "--cap-add=SYS_ADMIN"}
    socket = any("/var/run/docker.sock" in text for text in texts)
    if "run" in texts and (mounts_root or socket or host & set(texts)):
        message = "Gives the container root privileges on this machine."
        yield _effect(command, Level.WARNING, message)


def _protected_writes(command: Command, program: Program) -> Iterator[Effect]:
    redirected = {id(r.word): r.kind for r in command.redirects}
    for word in written_files(command):
        path = program.variables.worst(word)
        rule = writing_rule(path)
        content = (*command.words, *filter(None, [command.fed_text]))
        if "sudoers" in path:
            code, level = "privileged", Level.WARNING
            if any(grants_all_rights(one) for one in content):
                code, level = "back_door", Level.ERROR
            message = "Changes who can use sudo. Check the file with visudo -c."
            yield Effect(cast(Code, code), level, message, word.span)
        elif rule and (rule.code != "hidden_traces" or _removes(command, redirected.get(id(word)))):
            connects = any(
                PATTERNS["connects"].search(" ".join(one.texts)[:4_000]) for one in content
            )
            level = Level.WARNING if rule.code == "mutating" and connects else rule.level
            if any(
                PATTERNS["replaced-program"].search(read_code(v))
                for one in content
                for v in program.values(one)
            ):
                message = "Replaces a program that asks for passwords in login shells."
                yield Effect("back_door", Level.ERROR, message, word.span)
            yield Effect(rule.code, level, rule.message, word.span)
        elif is_protected(path):
            message = f"Writes to a system path: {show(word)}"
            yield Effect("privileged", Level.WARNING, message, word.span)


def _removes(command: Command, redirect: RedirectKind | None) -> bool:
    """Return whether the command removes content from the file instead of adding to it."""
    if redirect is not None:
        return redirect == "write"
    return command.name not in ("touch", "mkdir", "tee") or not command.has_option("-a")


def written_files(command: Command) -> Iterator[Word]:
    """Yield the files that the command writes to, if its syntax shows them."""
    yield from (r.word for r in command.redirects if r.kind in ("write", "append"))
    yield from output_files(command)
    name = command.name
    arguments = read_arguments(command.arguments, short=_VALUES.get(name, ""), long=_VALUE_NAMES)
    if name == "tee":
        yield from arguments.operands
    elif name in ("cp", "mv", "ln", "install", "rsync"):
        target = arguments.value("t", "target-directory")
        yield from (target,) if target else arguments.operands[1:][-1:]
        if name == "mv":
            yield from arguments.operands[:-1]
    elif name in ("touch", "mkdir", "rm", "rmdir", "truncate", "shred"):
        yield from arguments.operands
    elif name in ("sed", "perl") and arguments.has("i", "in-place"):
        has_script = arguments.has("e", "expression", "f", "file")
        yield from arguments.operands[0 if has_script else 1 :]
    elif name == "dd":
        yield from (w.without_prefix(3) for w in command.arguments if w.prefix.startswith("of="))


_VALUES = {"sed": "ef", "perl": "e", "install": "mogtS", "cp": "tS", "mv": "tS", "ln": "tS"}
_VALUES |= {"truncate": "sr", "mkdir": "m", "touch": "dtr", "rsync": "e", "shred": "ns"}
_VALUE_NAMES = frozenset({"target-directory", "expression", "mode", "owner", "group", "size"})
