"""Tools whose effect is in their subcommand or option: the patterns of subcommands.txt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from catalog.analysis.risk.effects import Code, Effect
from catalog.analysis.shell.arguments import Arguments, read_arguments
from catalog.analysis.shell.command_words import Word, show
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.program import Program
from catalog.analysis.types import Level
from catalog.analysis.word_sets import word_set


@dataclass(frozen=True, slots=True)
class Pattern:
    """Subcommands in order, then options any of which must be there; `*` and `a|b` are understood.

    In the message, «it» stands for the operands after the subcommands.
    """

    subcommands: tuple[str, ...]
    options: tuple[str, ...]
    code: Code
    level: Level
    message: str

    def matches(self, arguments: Arguments) -> bool:
        """Whether the arguments begin with the subcommands and have one of the options."""
        given = arguments.subcommands[: len(self.subcommands)]
        if len(given) < len(self.subcommands):
            return False
        if self.options and not arguments.has(*self.options):
            return False
        return all(
            any(fnmatchcase(word.lower(), choice.lower()) for choice in pattern.split("|"))
            for word, pattern in zip(given, self.subcommands, strict=True)
        )


# Options that take a value, or the value would be taken for the subcommand.
_SHORT = {
    "kubectl": "nlfcos",
    "oc": "nlfcos",
    "docker": "Hc",
    "podman": "c",
    "git": "Cc",
    "systemctl": "tpnHMos",
    "helm": "nf",
    "redis-cli": "hpansu",
    "crontab": "u",
}
_LONG = word_set(
    """
    namespace context kubeconfig selector filename output host region profile project zone
    resource-group subscription type state property user cluster endpoint-url kube-context
    """
)


def read_tool_arguments(command: Command) -> Arguments:
    """Options and subcommands of a tool with subcommands."""
    return read_arguments(command.arguments, short=_SHORT.get(command.name, ""), long=_LONG)


def find_subcommand_effects(command: Command, program: Program) -> Iterator[Effect]:
    """What the table says of the command; the first pattern that fits counts."""
    patterns = PATTERNS.get(command.name)
    if patterns is None:
        return
    arguments = read_tool_arguments(command)
    asks_only = {"kill": ("0", "l"), "apt-get": ("s",), "apt": ("s",), "git": ("n",)}
    if arguments.has("dry-run", "simulate", *asks_only.get(command.name, ())):
        return
    for pattern in patterns:
        if pattern.matches(arguments):
            rest = arguments.operands[len(pattern.subcommands) :]
            message = pattern.message.replace("«it»", _show_words(rest))
            yield Effect(pattern.code, pattern.level, message, command.span)
            return


def _show_words(words: tuple[Word, ...]) -> str:
    shown = " ".join(show(word) for word in words[:4])
    return f"{shown} …" if len(words) > 4 else shown or "what is named at run time"


def _read_table(text: str) -> dict[str, tuple[Pattern, ...]]:
    """The patterns by program; lines in brackets give code and level of those that follow."""
    patterns: dict[str, list[Pattern]] = {}
    heading: tuple[Code, Level] = ("mutating", Level.INFO)
    for line in text.splitlines():
        if line.startswith("["):
            code, level = line.strip("[]").split()
            heading = ("destructive" if code == "destructive" else "mutating", Level(level))
        elif line and not line.startswith("#"):
            left, _, message = line.partition(" = ")
            programs, *words = left.split()
            pattern = Pattern(
                subcommands=tuple(word for word in words if not word.startswith("-")),
                options=tuple(word.lstrip("-") for word in words if word.startswith("-")),
                code=heading[0],
                level=heading[1],
                message=message,
            )
            for program in programs.split("|"):
                patterns.setdefault(program, []).append(pattern)
    return {program: tuple(found) for program, found in patterns.items()}


PATTERNS = _read_table(Path(__file__).with_name("subcommands.txt").read_text("utf-8"))
