"""Describe the invocation of a command, also inside wrappers such as sudo and xargs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pipeline.standin.description.command_phrases import is_known, say_command, vocabulary
from pipeline.standin.description.find_command import say_find
from pipeline.standin.description.other_commands import TOOLS
from pipeline.standin.description.test_command import say_test

_SILENT = {
    "set",
    "shopt",
    "umask",
    "local",
    "export",
    "readonly",
    "declare",
    "unset",
    ":",
    "true",
    "wait",
}

TellScript = Callable[[str], str]


def say_invocation(words: Sequence[str], *, tell_script: TellScript) -> str:
    """Describe a command with its arguments. `tell_script` describes the argument of bash -c."""
    path, *rest = words or [""]
    name = path.rsplit("/", 1)[-1]
    if name in vocabulary().wrappers:
        return _say_wrapped(name, rest, tell_script)
    if name in ("bash", "sh") and "-c" in rest[:-1]:
        return tell_script(rest[rest.index("-c") + 1])
    if name == "find":
        return say_find(rest, lambda inner: say_invocation(inner, tell_script=tell_script))
    if name in ("test", "["):
        return f"checks that {say_test(rest)}"
    if name in TOOLS:
        return TOOLS[name](rest)
    if name in _SILENT:
        return ""
    return say_command(name if is_known(name) else path, rest)


def _say_wrapped(name: str, rest: list[str], tell_script: TellScript) -> str:
    wrapper = vocabulary().wrappers[name]
    while rest and (rest[0].startswith("-") or re.match(r"\w+=", rest[0])):
        rest = rest[2:] if rest[0] in wrapper.valued else rest[1:]
    inner = rest[wrapper.own :]
    if not inner:
        return "lists the variables" if name == "env" else ""
    if name == "xargs" and "{}" not in inner:
        inner = [*inner, "{}"]
    said = say_invocation(inner, tell_script=tell_script)
    return f"{said}, for at most {rest[0]} seconds" if name == "timeout" else said
