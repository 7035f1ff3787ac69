"""Effects of commands, and helpers for their messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from posixpath import normpath
from typing import Literal

from catalog.analysis.shell.command_words import Word, show, show_text
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.fragments import Span
from catalog.analysis.shell.program import Program
from catalog.analysis.shell.variables import SOMETHING
from catalog.analysis.tables import WORDS
from catalog.analysis.types import Level

Code = Literal[
    "destructive",
    "mutating",
    "network",
    "privileged",
    "back_door",
    "exfiltration",
    "hidden_traces",
    "outage",
    "reads_secrets",
    "remote_code",
    "secrets",
    "unbounded_loop",
    "unseen_code",
    "unsafe_variable",
]


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect of a script that users should know about before they run it, and its location."""

    code: Code
    level: Level
    message: str
    span: Span


Rule = Callable[[Command, Program], Iterator[Effect]]

PROTECTED_FOLDERS = WORDS["protected-folders"]
_TOP_FOLDERS = WORDS["top-folders"]
_HARMLESS_DEVICES = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"})
_ORDINARY_UNDER_DEV = ("/dev/fd/", "/dev/shm/", "/dev/tcp/", "/dev/udp/")
_ALL_OF_IT = frozenset({"", ".", "*", ".*", "**", ".[!.]*", "..?*", "{*,.*}", "{.*,*}", "?*"})


def list_words(words: tuple[Word, ...], *, otherwise: str = "") -> str:
    """Return the words as an English list with at most three items."""
    shown = [show(word) for word in words[:3]]
    if len(words) > 3:
        shown[2:] = [f"{len(words) - 2} more"]
    if not shown:
        return otherwise
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def emptied_folder(path: str) -> str | None:
    """Return the folder that deleting `path` empties if that is never intended, as for `/`. Otherwise return None.

    The path may end in `/*` or similar. "." is the current folder.
    """
    names = path.split("/")
    while len(names) > 1 and names[-1] in _ALL_OF_IT:
        names.pop()
    last = "" if names[-1] in _ALL_OF_IT else names[-1]
    rest = "/".join([*names[:-1], last])
    folder = normpath(rest or ("/" if path.startswith("/") else ".")).replace("//", "/")
    return folder if folder in _TOP_FOLDERS or folder in (".", "..") else None


def name_folder(folder: str) -> str:
    """Return a readable name for the folder."""
    names = {"/": "the whole system (/)", ".": "the current folder", "..": "the parent folder"}
    names["~"] = "the home folder"
    return names.get(folder, show_text(folder.replace(SOMETHING, "…")))


def is_protected(path: str) -> bool:
    """Return whether the path is in a system folder to which only root may write."""
    if path in _HARMLESS_DEVICES or path.startswith(_ORDINARY_UNDER_DEV):
        return False
    return any(path == folder or path.startswith(folder + "/") for folder in PROTECTED_FOLDERS)


def is_harmless_target(path: str) -> bool:
    """Return whether writing to the path changes no file."""
    return path in _HARMLESS_DEVICES or path.startswith("/dev/fd/")
