"""Split a command's arguments into options and operands, as getopt does."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from catalog.analysis.shell.command_words import Word


@dataclass(frozen=True, slots=True)
class Arguments:
    """The parsed arguments. Options are names without dashes, each with its value, if any."""

    options: tuple[tuple[str, Word | None], ...]
    operands: tuple[Word, ...]
    is_certain: bool  # False if an unquoted expansion may add options

    def has(self, *names: str) -> bool:
        """Return whether one of these options is given."""
        return any(name in names for name, _ in self.options)

    def value(self, *names: str) -> Word | None:
        """Return the value of the last of these options that has a value."""
        found = [value for name, value in self.options if name in names and value is not None]
        return found[-1] if found else None

    @property
    def names(self) -> frozenset[str]:
        return frozenset(name for name, _ in self.options)

    @property
    def subcommands(self) -> tuple[str, ...]:
        """Return the operands as text, with an empty string for operands known only at run time."""
        return tuple(word.literal or "" for word in self.operands)


def read_arguments(
    words: tuple[Word, ...],
    *,
    short: str = "",
    long: Collection[str] = (),
    single_dash: bool = False,
    stop_at_operand: bool = False,
) -> Arguments:
    """Split the words after a command's name into options and operands.

    `short` contains the letters and `long` the names of options that take the next word as their value. With
    `single_dash`, `-name` is one option (ip, openssl). With `stop_at_operand`, all words after the first operand are
    operands (sudo, env, ssh).
    """
    options: list[tuple[str, Word | None]] = []
    operands: list[Word] = []
    waiting = iter(words)
    for word in waiting:
        prefix = word.prefix
        if prefix == "--" and word.literal is not None:
            operands += waiting
        elif prefix.startswith("--") or (single_dash and prefix.startswith("-") and prefix != "-"):
            options.append(_read_long(word, waiting, long))
        elif prefix.startswith("-") and prefix != "-":
            options += _read_short(word, waiting, short)
        else:
            operands.append(word)
            if stop_at_operand:
                operands += waiting
    certain = not any(
        word.has_unquoted_expansion and not word.prefix and not word.texts for word in words
    )
    return Arguments(tuple(options), tuple(operands), certain)


def _read_long(
    word: Word, waiting: Iterator[Word], long: Collection[str]
) -> tuple[str, Word | None]:
    name, equals, _ = word.prefix.lstrip("-").partition("=")
    if equals:
        return name, word.without_prefix(word.prefix.index("=") + 1)
    return name, next(waiting, None) if name in long else None


def _read_short(
    word: Word, waiting: Iterator[Word], short: str
) -> Iterator[tuple[str, Word | None]]:
    for index, letter in enumerate(word.prefix[1:], 2):
        if letter in short:
            attached = word.without_prefix(index)
            yield letter, attached if attached.parts else next(waiting, None)
            return
        yield letter, None
