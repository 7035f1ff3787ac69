"""Determine the effects of `aws` commands from the access level of the action in AWS's own table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from catalog.analysis.risk.effects import Effect
from catalog.analysis.shell.arguments import Arguments
from catalog.analysis.shell.command_words import show_text
from catalog.analysis.shell.commands import Command
from catalog.analysis.tables import word_map
from catalog.analysis.types import Level

_FILE = Path(__file__).with_name("aws_actions.txt")
_WRITES_FILE = frozenset({"get-object", "get-object-torrent", "get-export", "get-sdk"})
_READING_VERBS = ("describe-", "list-", "get-", "head-", "lookup-", "wait", "help", "search-")
_PREFIXES = word_map("aws-prefixes")


def find_aws_effect(command: Command, arguments: Arguments) -> Iterator[Effect]:
    """Yield the effect of an action that no rule covers."""
    level = access_level(arguments)
    action = show_text(" ".join(arguments.subcommands[:2]))
    if level == "P":
        message = f"Changes AWS permissions ({action}). Review the policy before you run it."
        yield Effect("privileged", Level.WARNING, message, command.span)
    if level in ("P", "T", "W"):
        yield Effect("mutating", Level.INFO, f"Changes AWS resources ({action}).", command.span)


def is_aws_read(arguments: Arguments) -> bool:
    """Return whether the action is read-only according to AWS's table, and `aws` writes no file for it."""
    is_file = arguments.subcommands[1:2] and arguments.subcommands[1] in _WRITES_FILE
    return access_level(arguments) in ("R", "L") and not is_file


def access_level(arguments: Arguments) -> str | None:
    """Return R(ead), L(ist), T(agging), P(ermissions management) or W(rite), or None if the action is not in
    the table.
    """
    service, action = (*arguments.subcommands[:2], "", "")[:2]
    known = _actions(_PREFIXES.get(service, service))
    if not known or not action:
        return None
    return known.get(action) or (None if action.startswith(_READING_VERBS) else "W")


@lru_cache(maxsize=32)
def _actions(prefix: str) -> dict[str, str]:
    """Return the access levels of a service's actions, without write actions. The result is empty for an unknown
    service.
    """
    text = _text()
    actions = {"": ""} if f"\n{prefix} W\n" in text else {}
    start = text.find(f"\n{prefix} W\n") + 1
    for line in text[start:].splitlines() if actions else ():
        name, level, *verbs = line.split(" ")
        if name != prefix:
            break
        for verb, _, rests in (group.partition(":") for group in verbs):
            actions |= {f"{verb}-{rest}".rstrip("-"): level for rest in rests.split(",")}
    return actions


@lru_cache(maxsize=1)
def _text() -> str:
    return _FILE.read_text("utf-8")
