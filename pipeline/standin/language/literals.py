"""The literals in a sentence: paths, globs, sizes, ages, numbers, quoted words, names.

Statements ("files over 100 MB") and descriptions ("larger than 100 MB") are parsed in the same way, so that values can
be compared across units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from pipeline.standin.language.idioms import load_idioms

Kind = Literal["path", "glob", "size", "age", "percent", "number", "quoted", "name"]

SIZE_BYTES = {"b": 1, "k": 1024, "m": 1024**2, "g": 1024**3, "t": 1024**4}
PERIOD_SECONDS = {
    "s": 1, "sec": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hr": 3600, "hour": 3600,
    "d": 86400, "day": 86400, "week": 604800, "month": 2592000, "year": 31536000,
}  # fmt: skip
_WORD_NUMBERS = {
    "last": 1, "past": 1, "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5,
    "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "twelve": 12, "fifteen": 15,
    "twenty": 20, "thirty": 30, "ninety": 90,
}  # fmt: skip

_NOUNS = (
    "service|unit|daemon|container|pod|deployment|namespace|statefulset|user|group|package|process|"
    "database|table|host|hostname|node|interface|image|branch|domain|queue|key|timer|bucket|volume|"
    "index|socket"
)
_COMMON = (
    "nginx|apache2?|httpd|sshd|redis|postgresql|postgres|mysqld?|mariadb|haproxy|kubelet|"
    "rsyslog|rabbitmq|elasticsearch|kafka|memcached|mongod|mongodb|prometheus|grafana|containerd|"
    "chronyd|varnish|tomcat|docker(?! (?:containers?|images?|volumes?|networks?))"
)
_COMMANDED = (
    "restart|reload|stop|start|enable|disable|kill|install|uninstall|drain|cordon|scale|ping|"
    "resolve|signal"
)
_EXTENSIONS = (
    "java|py|txt|jpe?g|png|gif|mp3|mp4|pdf|html?|css|js|php|xml|json|ya?ml|csv|cpp|rb|gz|zip|bak|"
    "tmp|swp|rpm|deb|iso"
)
_NOT_NAMES = frozenset(load_idioms().not_names.split())
_WORDS = "|".join(sorted(_WORD_NUMBERS, key=len, reverse=True))
_BYTES = "[kmgt]i?b?|bytes?|(?:kilo|mega|giga|tera)bytes?"
_PERIODS = "seconds?|secs?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?|years?"
# Nouns after a number word: "the five largest", "ten lines". "One" is not a number.
_COUNTED = (
    r"(?:largest|biggest|smallest|newest|oldest|latest|longest|most|first|last|files|lines|"
    r"processes|directories|folders)\b"
)
_EDGE = r"(?<![\w/.$*~-])"
_START = r"(?<![\w./-])"
_PLACE = rf"(?:~|\.{{1,2}})?/[\w./@%+:*?~$-]*|{_EDGE}~(?![\w/])|\$[A-Z_][A-Z0-9_]*(?:/[\w./-]*)?"
# Unambiguous names, and the words around a name that may be a common word.
_IDENTIFIER = r"\w[\w.@:]*[-_\d][\w.@:-]*"
_INDEFINITE = ("a", "an", "any", "each", "every", "all", "which", "its", "one", "no")
_DEFINITE = "".join(rf"(?<!\b{word} )" for word in _INDEFINITE)
_AFTER = (
    r"(?= (?:in|on|for|to|of|by|with|from|and|as|at|is|are|has|that|since|via|but|or)\b"
    r"|[.,;:?!)]|\s*$)"
)
_SMALL = r"[^\W\d_A-Z]"  # A letter of any language except A to Z.
_PART = rf"(?:{_SMALL}|\d)+"
_JOINED = rf"{_SMALL}+(?:[-_]{_PART})*[-_]{_SMALL}*\d[\w-]*|{_SMALL}+(?:_{_PART})+"

# In order of precedence: a later pattern never matches text that an earlier pattern matched.
_PATTERNS: tuple[tuple[Kind, str], ...] = (
    ("quoted", r"\"(?P<q1>[^\"\n]+)\"|(?<!\w)'(?P<q2>[^'\n]+)'(?!\w)|[“`](?P<q3>[^”`\n]+)[”`]"),
    ("name", r"\bhttps?://[^\s,;)]+"),
    ("path", rf"{_EDGE}(?:{_PLACE})"),
    ("glob", rf"{_EDGE}[\w.-]*\*[\w.*?-]*"),
    ("glob", rf"{_EDGE}\.[a-z][a-z0-9]{{0,7}}(?![\w/])"),
    ("glob", rf"(?i:\b(?P<extension>{_EXTENSIONS})(?= (?:files?|images?|documents?|archives?)\b))"),
    ("size", rf"(?i:(?<![\w.])(?P<amount>\d+(?:\.\d+)?)[ -]?(?P<unit>{_BYTES})\b)"),
    ("age", rf"(?i:(?<![\w.])(?P<amount>\d+|{_WORDS})[ -]?(?P<unit>{_PERIODS})\b)"),
    ("age", r"(?<![\w.])(?P<amount>\d+)(?P<unit>[hd])\b"),
    ("percent", r"(?<![\w.])(?P<amount>\d+(?:\.\d+)?) ?(?:%|percent\b)"),
    ("name", r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])"),
    ("name", r"(?<![\w./@-])(?:[\w-]+\.)+(?:com|org|net|io|dev|local|internal|cloud)(?![\w/])"),
    ("name", rf"\b(?P<noun>{_NOUNS})s? (?:named |called )?(?P<name>{_IDENTIFIER})"),
    (
        "name",
        rf"{_DEFINITE}\b(?P<noun>{_NOUNS}) (?:named |called )?(?P<name>\w[\w.@:-]*\w){_AFTER}",
    ),
    ("name", rf"{_START}(?P<name>{_IDENTIFIER}) (?P<noun>{_NOUNS})\b"),
    ("name", rf"\b(?:the|{_COMMANDED}) (?P<name>\w[\w.@-]*\w) (?P<noun>{_NOUNS})\b"),
    ("name", rf"\b(?i:{_COMMANDED}) (?:the )?(?P<name>[^\W\d_][\w.@-]*\w)"),
    ("name", rf"{_START}(?:{_COMMON})(?![\w/-])"),
    ("path", r"(?<![\w/.$*@-])[\w-]+(?:[./][\w-]+)*\.[a-z][a-z0-9]{0,6}(?![\w/*])"),
    ("quoted", r"\b(?:named|called) (?P<q1>\w[\w.@-]*)"),
    ("name", rf"(?<![\w./$*-])(?P<name>{_JOINED})(?![\w/*])"),
    ("number", r"(?<![\w./*:-])\d+(?:\.\d+)*(?![\w*]|:\d)"),
    ("number", rf"(?i:\b(?P<amount>{_WORDS})(?= {_COUNTED}))"),
)
_COMPILED = [(kind, re.compile(pattern)) for kind, pattern in _PATTERNS]

_PLACES = {
    "current directory": ".", "current folder": ".", "working directory": ".",
    "home directory": "~", "root directory": "/", "root of the file system": "/",
    "whole file system": "/", "entire file system": "/",
}  # fmt: skip
_PLACES_PATTERN = re.compile(rf"(?<![/\w])(?:{'|'.join(_PLACES)})\b", re.IGNORECASE)
# Words around "home directory" that refer to another user's home directory.
_THEIRS_BEFORE = re.compile(
    r"(?:['’]s?|\b(?:her|his|their|its|users?|each|every)) $", re.IGNORECASE
)
_THEIRS_AFTER = re.compile(r" (?:of|for|belonging)\b", re.IGNORECASE)


class Mention(NamedTuple):
    """A literal. `text` has no quotes, and `value` can be compared with values of the same kind.

    `noun` is the word next to a name ("service"). `start` and `end` are the literal's position in the sentence.
    """

    kind: Kind
    text: str
    value: str
    noun: str = ""
    start: int = 0
    end: int = 0

    @property
    def is_place(self) -> bool:
        """Return whether a path is a location and not only a file name."""
        return self.kind == "path" and ("/" in self.text or self.text in (".", "~"))

    @property
    def key(self) -> tuple[str, str]:
        """Return the key for comparing mentions. A quoted word may be a name."""
        return ("name" if self.kind == "quoted" else self.kind, self.value)


def find_mentions(sentence: str) -> list[Mention]:
    """Return the literals in a sentence in order, without duplicates."""
    taken: list[tuple[int, int]] = []
    found: list[Mention] = []
    for kind, pattern in _COMPILED:
        for match in pattern.finditer(sentence):
            start, end = match.span("name" if "name" in match.groupdict() else 0)
            if any(start < other_end and other_start < end for other_start, other_end in taken):
                continue
            mention = _read(kind, match, start)
            if mention is not None:
                taken.append((start, end))
                # A period after a path is not part of it.
                last = start + len(mention.text) if mention.kind == "path" else end
                found.append(mention._replace(end=last))
    unique: dict[tuple[str, str], Mention] = {}
    for mention in sorted([*found, *_find_places(sentence)], key=lambda mention: mention.start):
        unique.setdefault(mention.key, mention)
    return list(unique.values())


def without_mentions(sentence: str) -> str:
    """Return a sentence with its literals replaced by spaces."""
    for mention in find_mentions(sentence):
        sentence = sentence.replace(mention.text, " ")
    return sentence


def mention_from_text(text: str) -> Mention:
    """Return the literal in a quoted text: a number, an age, a size, a path, a glob, or plain words."""
    if text.isdecimal():
        return Mention("number", text, text)
    for kind, pattern in _COMPILED:
        measured = pattern.fullmatch(text.removesuffix(" ago")) if kind in ("age", "size") else None
        if measured:
            return _read(kind, measured, 0) or Mention("quoted", text, text.lower())
    if re.fullmatch(_PLACE, text) or re.fullmatch(
        r"[\w.-]+/(?:[\w./-]*(?:/|\.[a-z]\w{0,6}))?", text
    ):
        return Mention("path", text, _path_value(text))
    if re.fullmatch(r"\S*[*?]\S*", text):
        return Mention("glob", text, text)
    if re.fullmatch(r"\.[A-Za-z][A-Za-z0-9]{0,7}", text):
        return Mention("glob", f"*{text}", f"*{text}")
    return Mention("quoted", text, text.lower())


def _read(kind: Kind, match: re.Match[str], start: int) -> Mention | None:
    groups = match.groupdict()
    text = match[0]
    if kind == "quoted":
        text = next(filter(None, groups.values()))
        return None if text.lower() in _NOT_NAMES else mention_from_text(text)._replace(start=start)
    if kind == "path":
        text = text.rstrip(".,:;?") or text
        return (
            None if text in ("e.g", "i.e") else Mention("path", text, _path_value(text), "", start)
        )
    if kind == "glob":
        text = (
            f"*.{groups['extension'].lower()}"
            if groups.get("extension")
            else text.rstrip(".?") or text
        )
        text = f"*{text}" if text.startswith(".") else text
        return Mention("glob", text, text, "", start)
    if kind == "name" and "name" not in groups:
        return Mention("name", text, text.lower(), "", start)
    if kind == "name":
        return _read_name(groups["name"], groups.get("noun") or "", start)
    if kind == "size":
        value = str(int(float(groups["amount"]) * SIZE_BYTES[groups["unit"][0].lower()]))
        return Mention("size", text, value, "", start)
    if kind == "age":
        amount, unit = groups["amount"].lower(), groups["unit"].lower()
        count = int(_WORD_NUMBERS.get(amount, 0) or amount)
        seconds = PERIOD_SECONDS[unit if unit in PERIOD_SECONDS else unit.rstrip("s")]
        return Mention("age", text, str(count * seconds), "", start)
    amount = groups.get("amount") or text
    if amount.isalpha():
        count = _WORD_NUMBERS[amount.lower()]
        return Mention(kind, str(count), str(count), "", start) if count > 1 else None
    return Mention(kind, amount, amount, "", start)


def _read_name(name: str, noun: str, start: int) -> Mention | None:
    plain = name.isalpha()
    if (
        name.lower() in _NOT_NAMES
        or (plain and name.endswith(("ing", "ed", "ly")))
        or re.fullmatch(f"{_NOUNS}|{_COMMANDED}", name.lower())
    ):
        return None
    if name.isdecimal():
        return Mention("number", name, name, noun, start)
    return Mention("name", name, name.lower(), noun, start)


def _path_value(text: str) -> str:
    text = re.sub(r"^\$\{?HOME\b\}?", "~", text).removeprefix("./") or "."
    return (text.rstrip("/") or "/") if text != "." else text


def _find_places(sentence: str) -> Iterator[Mention]:
    for match in _PLACES_PATTERN.finditer(sentence):
        place = _PLACES[match[0].lower()]
        theirs = _THEIRS_BEFORE.search(sentence, 0, match.start()) or _THEIRS_AFTER.match(
            sentence, match.end()
        )
        if place != "~" or not theirs:
            yield Mention("path", place, place, "", *match.span())
