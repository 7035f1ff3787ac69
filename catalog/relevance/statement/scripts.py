"""Find the values that a script mentions, to explain a statement's literals.

The functions search the script's text without parsing it. A wrong guess only affects whether a literal is explained.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from catalog.relevance.statement.literals import Literal
from catalog.relevance.statement.token_shapes import Kind, classify, read_measure
from catalog.relevance.statement.verbs import VERBS
from catalog.relevance.statement.vocabulary import DURATION_UNITS, SIZE_UNITS

_LONGEST = 20_000  # characters that are read
_GOES_ON = re.compile(r"/+[\w.-]")
_MOST_PLACES = 50  # maximum number of matches to examine, because a text may be repetitive
_PIECE = re.compile(r"[^\s'\"`();|&<>=,]{1,300}")
_NUMBER = re.compile(r"(?:(?<![A-Za-z_.\d])|(?<=-[A-Za-z]))\d{1,18}(?:\.\d{1,9})?")
_AGE_OPTION = re.compile(r"-[amc](time|min)")
_SIZE = re.compile(r"[+-]?(\d+)([cwbkMG]?)")
_SIZE_LETTERS = {"c": 1, "w": 2, "b": 512, "": 512, "k": 1024, "M": 1024**2, "G": 1024**3}
_COMMANDS = {
    "rm": "delete", "rmdir": "delete", "-delete": "delete", "cp": "copy", "mv": "move",
    "ln": "link", "tar": "compress", "gzip": "compress", "zip": "compress", "gunzip": "extract",
    "unzip": "extract", "chmod": "change", "chown": "change", "chgrp": "change", "sed": "change",
    "touch": "touch", "mkdir": "create", "kill": "kill", "pkill": "kill", "killall": "kill",
    "wc": "count", "umount": "unmount", "useradd": "create", "userdel": "delete", "scp": "copy",
    "rsync": "rsync", "curl": "download", "wget": "download", "truncate": "truncate",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScriptProfile:
    """The data that the rules need about a script."""

    text: str  # lower-case, without backslashes
    keys: frozenset[tuple[str, str]]  # families and values, in the format of `Literal.key`
    numbers: frozenset[float]
    pieces: frozenset[str]  # lower-case words
    actions: frozenset[str]  # verbs that describe its commands

    def explains(self, literal: Literal) -> bool:
        """Return whether the script contains the literal, as written or in another unit."""
        if literal.key in self.keys:
            return True
        if literal.kind == Kind.DURATION:
            return self._has_amount(literal, (1, 60, 3600, 86400))
        if literal.kind == Kind.SIZE:
            return self._has_amount(literal, (1, 512, 1024, 1024**2, 1024**3))
        if literal.kind in (Kind.NUMBER, Kind.PORT, Kind.PERCENT, Kind.MODE):
            number = _as_number(literal.value)
            return number in self.numbers if number is not None else self._contains(literal.value)
        if literal.kind == Kind.PATH and literal.value == ".":
            return True
        whole = literal.kind == Kind.PATH
        return self._contains(literal.value, whole=whole) or self._contains(
            literal.text, whole=whole
        )

    def _has_amount(self, literal: Literal, units: Sequence[int]) -> bool:
        amount = float(literal.value)
        return any(amount / unit in self.numbers for unit in units)

    def _contains(self, text: str, *, whole: bool = False) -> bool:
        """Return whether the script contains the text, without asterisks, between non-word characters.

        If `whole` is set, a match must be a complete path: /var does not match /var/log, but it matches /var/*.
        """
        wanted = text.strip("*").lower()
        start = -1
        for _ in range(_MOST_PLACES if wanted else 0):
            start = self.text.find(wanted, start + 1)
            if start < 0:
                return False
            end = start + len(wanted)
            if _is_inside_word(self.text, start) or _is_inside_word(self.text, end):
                continue
            if not (whole and _GOES_ON.match(self.text, end)):
                return True
        return False


def analyse_script(script: str) -> ScriptProfile:
    """Return the profile of a script. Recent results are cached."""
    return _analyse(script[:_LONGEST])


@lru_cache(maxsize=2048)
def _analyse(script: str) -> ScriptProfile:
    pieces = [piece.replace("\\", "") for piece in _PIECE.findall(script)]
    keys: set[tuple[str, str]] = set()
    actions = set()
    for before, piece, after in zip(["", *pieces], pieces, [*pieces[1:], ""], strict=False):
        keys.update(_keys(before, piece, after))
        verb = _COMMANDS.get(piece.rpartition("/")[2], piece)
        if verb in VERBS:
            actions.add(verb)
    return ScriptProfile(
        text=script.lower().replace("\\", ""),
        keys=frozenset(keys),
        numbers=frozenset(map(float, _NUMBER.findall(script))),
        pieces=frozenset(piece.lower() for piece in pieces),
        actions=frozenset(actions),
    )


def _keys(before: str, piece: str, after: str) -> list[tuple[str, str]]:
    """Return the possible literal keys of a piece of a script, given the adjacent pieces."""
    measure = read_measure(piece.lstrip("+-"))
    if measure is None:
        shape = classify(piece)
        return [(shape[0].family, shape[1])] if shape else []
    number, unit = measure
    keys = [("number", f"{number:.15g}")]
    unit = unit or (after.lower() if len(after) > 1 else "")
    if option := _AGE_OPTION.fullmatch(before):
        seconds = number * (86400 if option[1] == "time" else 60)
        keys.append(("duration", f"{seconds:.15g}"))
    elif before == "-size" and (size := _SIZE.fullmatch(piece)):
        keys.append(("size", f"{int(size[1]) * _SIZE_LETTERS[size[2]]:.15g}"))
    else:
        if unit in DURATION_UNITS:
            keys.append(("duration", f"{number * DURATION_UNITS[unit]:.15g}"))
        if unit in SIZE_UNITS:
            keys.append(("size", f"{number * SIZE_UNITS[unit]:.15g}"))
    return keys


def _as_number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _is_inside_word(text: str, cut: int) -> bool:
    """Return whether there are word characters on both sides of a position."""
    return 0 < cut < len(text) and _is_word(text[cut - 1]) and _is_word(text[cut])


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
