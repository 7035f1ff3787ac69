"""Describe commands with phrases from the vocabulary, their operands and their important options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from pydantic import BaseModel

from pipeline.standin.yaml_data import load_own

_SLOT = re.compile(r"\{(?P<slot>|1|-1|:-1|2:)\}")


class Entry(BaseModel):
    """The phrases for a command. `does` has slots for operands, and `alone` is used without operands."""

    does: str
    alone: str = ""
    options: dict[str, str] = {}


class _Family(BaseModel):
    """A command whose first operand is a subcommand."""

    does: dict[str, str]
    options: dict[str, str] = {}


class _FindWords(BaseModel):
    """Phrases for find: file types, tests with and without a value, options, actions."""

    types: dict[str, str]
    valued: dict[str, str]
    plain: dict[str, str]
    options: dict[str, str]
    actions: dict[str, str]


class _Conditions(BaseModel):
    """Phrases for the unary and binary operators of test."""

    unary: dict[str, str]
    binary: dict[str, str]


class _Wrapper(BaseModel):
    """A command that runs another command: the number of its own operands, and its options with values."""

    own: int = 0
    valued: set[str] = set()


class Vocabulary(BaseModel):
    """The contents of vocabulary.yaml."""

    aliases: dict[str, str]
    commands: dict[str, Entry]
    subcommands: dict[str, _Family]
    find: _FindWords
    conditions: _Conditions
    wrappers: dict[str, _Wrapper]


class Arguments(NamedTuple):
    """A command's parsed arguments. `unknown` contains options that are not in the vocabulary."""

    operands: list[str]
    options: list[tuple[str, str]]
    unknown: list[str]

    def has(self, *names: str) -> bool:
        """Return whether one of these options was given."""
        return any(name in names for name, _ in self.options)

    def value(self, *names: str) -> str:
        """Return the value of the last of these options, or ""."""
        return next((value for name, value in reversed(self.options) if name in names), "")


@cache
def vocabulary() -> Vocabulary:
    """Return the vocabulary. The file is read only once."""
    return Vocabulary.model_validate(load_own("vocabulary.yaml"))


def is_known(name: str) -> bool:
    """Return whether the vocabulary contains this command."""
    known = vocabulary()
    return name in known.aliases or name in known.commands or name in known.subcommands


def say_command(name: str, words: Sequence[str]) -> str:
    """Describe a command in the third person: "deletes /tmp/x, without asking"."""
    known = vocabulary()
    name = known.aliases.get(name, name)
    family = known.subcommands.get(name)
    if family is not None:
        return _say_family(name, family, words)
    entry = known.commands.get(name)
    if entry is None:
        return f"runs {name}{' with ' + join_words(words) if words else ''}"
    return _say(entry, split_words(words, entry.options))


def split_words(words: Sequence[str], options: Mapping[str, str]) -> Arguments:
    """Split words into operands, known options and unknown options."""
    found = Arguments([], [], [])
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            found.operands.extend(waiting)
            break
        if len(word) < 2 or word[0] not in "-+" or (word[0] == "+" and word not in options):
            found.operands.append(word)
        elif f"{word}=" in options:
            found.options.append((word, waiting.pop(0) if waiting else ""))
        elif word in options:
            found.options.append((word, ""))
        elif word.startswith("--"):
            name, _, value = word.partition("=")
            known = f"{name}=" in options or name in options
            found.options.append((name, value)) if known else found.unknown.append(word)
        else:
            _split_cluster(word, waiting, options, found)
    return found


def _split_cluster(
    word: str, waiting: list[str], options: Mapping[str, str], found: Arguments
) -> None:
    """Split a cluster of short options. If an option takes a value, the rest is its value."""
    for at, letter in enumerate(word[1:], start=1):
        name = f"-{letter}"
        if f"{name}=" in options:
            found.options.append((name, word[at + 1 :] or (waiting.pop(0) if waiting else "")))
            return
        if name not in options:
            found.unknown.append(word)
            return
        found.options.append((name, ""))


def join_words(words: Iterable[str]) -> str:
    """Join words into a prose list, and quote words that contain blanks."""
    shown = [show_word(word) for word in words]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def show_word(word: str) -> str:
    """Return a word as it appears in a description."""
    if word in (".", "./"):
        return "the current directory"
    if word == "{}":
        return "each of them"
    return quote_word(word)


def quote_word(word: str) -> str:
    """Return a word verbatim, in quotes if it is empty or contains blanks."""
    return f'"{word}"' if not word or re.search(r"\s", word) else word


def _say_family(name: str, family: _Family, words: Sequence[str]) -> str:
    arguments = split_words(words, family.options)
    command, *operands = arguments.operands or [""]
    longer = " ".join([command, *operands[:1]])
    if longer in family.does:
        command, operands = longer, operands[1:]
    if command not in family.does:
        return f"runs {name}{' with ' + join_words(words) if words else ''}"
    entry = Entry(does=family.does[command], options=family.options)
    # "pod web-1" is one object, although it has two words.
    return _say(entry, arguments._replace(operands=operands), joint=" ")


def _say(entry: Entry, arguments: Arguments, *, joint: str = "") -> str:
    phrase = entry.does if arguments.operands else entry.alone or entry.does
    said = []
    for name, value in arguments.options:
        words = entry.options.get(f"{name}=", entry.options.get(name, ""))
        if words.startswith("!"):
            phrase = words[1:].replace("{}", quote_word(value)) if value else words[1:]
        elif words:
            said.append(words.replace("{}", quote_word(value)))
    if arguments.unknown:
        said.append(f"with {join_words(arguments.unknown)}")
    filled = _SLOT.sub(lambda slot: _fill(slot["slot"], arguments.operands, joint), phrase)
    filled = re.sub(
        r"(?: of|:)?\s*$", "", re.sub(r"the (?:\w+ )?each of them", "each of them", filled)
    )
    return ", ".join([filled, *dict.fromkeys(said)])


def _fill(slot: str, operands: list[str], joint: str) -> str:
    chosen = {
        "": operands,
        "1": operands[:1],
        "-1": operands[-1:],
        ":-1": operands[:-1],
        "2:": operands[1:],
    }[slot]
    if not chosen:
        return "them" if slot else ""
    return joint.join(map(show_word, chosen)) if joint else join_words(chosen)
