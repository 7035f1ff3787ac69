"""Describe a `find` command: which files it looks for, where, and its actions on the matches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from pipeline.standin.description.command_phrases import (
    join_words,
    quote_word,
    show_word,
    vocabulary,
)

Say = Callable[[Sequence[str]], str]

_TIMES = {
    "mtime": ("modified", "day"), "mmin": ("modified", "minute"),
    "atime": ("accessed", "day"), "amin": ("accessed", "minute"),
    "ctime": ("changed in status", "day"), "cmin": ("changed in status", "minute"),
}  # fmt: skip
_BLOCKS = "blocks of 512 bytes"
_UNITS = {"c": "bytes", "k": "KB", "M": "MB", "G": "GB", "w": "two-byte words", "b": _BLOCKS}
_COUNTED = ("uid", "gid", "inum", "links")


class _Part(NamedTuple):
    """The description of a part of the expression: a test, an action, or a pruned branch."""

    test: str = ""
    action: str = ""
    prunes: bool = False


class _Finder:
    """A parser for find's expression: alternatives of sequences of primaries, which can be negated."""

    def __init__(self, words: Sequence[str], say: Say) -> None:
        self._waiting = list(words)
        self._say = say
        self._known = vocabulary().find
        self.noun = ""
        self.depth: dict[str, str] = {}
        self.options: list[str] = []
        self._nested = 0

    def read_expression(self) -> _Part:
        """Describe the alternatives of an expression. Pruned branches are described as left out."""
        branches = [self._read_all()]
        while self._take("-o", "-or"):
            branches.append(self._read_all())
        left_out = [branch.test or "everything" for branch in branches if branch.prunes]
        rest = [branch for branch in branches if not branch.prunes]
        tests = [branch.test for branch in rest if branch.test]
        shared = {branch.action for branch in rest}
        if not rest:
            return _Part(" or ".join(left_out), prunes=True)
        if len(shared) > 1:  # Each alternative has its own action.
            each = (f"{b.action or 'prints'} what is {b.test or 'anything else'}" for b in rest)
            return _Part(action="; ".join(each))
        said = [
            " or ".join(tests),
            f"leaving out those {' or '.join(left_out)}" if left_out else "",
        ]
        return _Part(", ".join(filter(None, said)), shared.pop() if shared else "")

    def _read_all(self) -> _Part:
        tests, actions, prunes = [], [], False
        while self._waiting and self._waiting[0] not in ("-o", "-or", ")", ","):
            part = self._read_one()
            tests.append(part.test)
            actions.append(part.action)
            prunes = prunes or part.prunes
        if self._waiting and self._waiting[0] == ",":
            self._waiting.pop(0)
        return _Part(", ".join(filter(None, tests)), " and ".join(filter(None, actions)), prunes)

    def _read_one(self) -> _Part:
        word = self._waiting.pop(0)
        if word in ("!", "-not"):
            part = self._read_one() if self._waiting else _Part()
            return part._replace(test=f"not {part.test}" if part.test else "")
        if word == "(":
            self._nested += 1
            part = self.read_expression()
            self._nested -= 1
            self._take(")")
            return part
        return self._read_primary(word.lstrip("-"), word)

    def _read_primary(self, name: str, word: str) -> _Part:
        if name in ("and", "a"):
            return _Part()
        if name == "prune":
            return _Part(prunes=True)
        if name in self._known.options:
            self.options.append(self._known.options[name])
            return _Part()
        if name in ("exec", "execdir", "ok", "okdir"):
            return _Part(action=self._read_command(asks=name.startswith("ok")))
        if name in self._known.actions:
            return _Part(action=self._known.actions[name])
        if name in self._known.plain:
            return _Part(self._known.plain[name])
        value = self._waiting.pop(0) if self._waiting else ""
        if name in ("maxdepth", "mindepth"):
            self.depth[name] = value
            return _Part()
        if name in ("type", "xtype"):
            return self._read_type(value)
        if name in ("printf", "fprintf", "fls", "fprint"):
            return _Part(action=f'prints "{value}" for each')
        return _Part(_say_test(name, value) or f"matching {word} {show_word(value)}")

    def _read_type(self, value: str) -> _Part:
        noun = " and ".join(
            self._known.types.get(letter, f"type {letter}") for letter in value.split(",")
        )
        if self._nested or self.noun:
            return _Part(f"being {noun}")
        self.noun = noun
        return _Part()

    def _read_command(self, *, asks: bool) -> str:
        end = next(
            (at for at, word in enumerate(self._waiting) if word in (";", "+")), len(self._waiting)
        )
        words, self._waiting = self._waiting[:end], self._waiting[end + 1 :]
        return self._say(words) + (", asking each time" if asks else "")

    def _take(self, *words: str) -> bool:
        if self._waiting and self._waiting[0] in words:
            self._waiting.pop(0)
            return True
        return False


def say_find(words: Sequence[str], say: Say) -> str:
    """Describe `find` with these arguments. `say` describes the commands passed to -exec."""
    rest = [word for word in words if word not in ("-H", "-L", "-P")]
    end = next(
        (at for at, word in enumerate(rest) if word.startswith("-") or word in ("(", "!")),
        len(rest),
    )
    finder = _Finder(rest[end:], say)
    found = finder.read_expression()
    where = _say_where(rest[:end] or ["."], finder.depth)
    details = [
        found.test,
        *dict.fromkeys(finder.options),
        "following links" if "-L" in words else "",
    ]
    looked_for = ", ".join(
        filter(None, [f"finds {finder.noun or 'files and directories'} {where}", *details])
    )
    return f"{looked_for}, and {found.action}" if found.action else looked_for


def _say_where(paths: list[str], depth: dict[str, str]) -> str:
    places = join_words(paths)
    deepest, least = depth.get("maxdepth"), depth.get("mindepth")
    where = f"under {places}"
    if deepest == "1":
        where = f"directly in {places}"
    elif deepest:
        where += f" at most {deepest} levels deep"
    return f"{where} at least {least} levels deep" if least not in (None, "0", "1") else where


def _say_test(name: str, value: str) -> str:
    if name in _TIMES:
        return _say_time(*_TIMES[name], value)
    if name == "size":
        return _say_size(value)
    if name in _COUNTED and value[:1] in ("+", "-"):
        value = f"{'more' if value[0] == '+' else 'less'} than {value[1:]}"
    return vocabulary().find.valued.get(name, "").replace("{}", quote_word(value))


def _say_time(verb: str, unit: str, value: str) -> str:
    sign, count = (value[0], value[1:]) if value[:1] in ("+", "-") else ("", value)
    if not sign and count == "0":
        return f"{verb} less than 1 {unit} ago"
    period = f"{count} {unit}" if count == "1" else f"{count} {unit}s"
    return f"{verb} {({'+': 'more than ', '-': 'less than '}).get(sign, '')}{period} ago"


def _say_size(value: str) -> str:
    sign, amount = (value[0], value[1:]) if value[:1] in ("+", "-") else ("", value)
    unit = amount[-1:] if amount[-1:] in _UNITS else ""
    shown = f"{amount.removesuffix(unit)} {_UNITS.get(unit, _BLOCKS)}"
    return f"{({'+': 'larger than', '-': 'smaller than'}).get(sign, 'of exactly')} {shown}"
