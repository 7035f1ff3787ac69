"""Adapt an example: replace its literals with the statement's, by kind and in order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pipeline.standin.language.literals import (
    PERIOD_SECONDS,
    SIZE_BYTES,
    Kind,
    Mention,
    find_mentions,
)
from pipeline.standin.language.shell_syntax import Edit, insert_at

_ASSIGNED = re.compile(
    r'^: "\$\{(?P<name>[A-Z][A-Z0-9_]*)(?::?=(?P<default>[^}"]*)|:?\?[^}"]*)\}"'
    r"|^(?P<plain>[A-Z][A-Z0-9_]*)=(?P<value>\S*)$",
    re.MULTILINE,
)
# The kinds of parameters by words in their names. The last known word decides.
_KINDS: tuple[tuple[str, Kind], ...] = (
    (
        "DIR|DIRECTORY|PATH|FILE|FOLDER|LOG|SOURCE|DEST|DESTINATION|TARGET|MOUNT|MOUNTPOINT|ROOT|"
        "ARCHIVE|BACKUP|CERTIFICATE|CONFIG",
        "path",
    ),
    ("DAYS|HOURS|MINUTES|SECONDS|WEEKS|AGE|SINCE|PERIOD|WINDOW|TIMEOUT", "age"),
    ("SIZE|BYTES|KB|MB|GB|MEGABYTES|GIGABYTES", "size"),
    ("PERCENT|THRESHOLD|USAGE", "percent"),
    ("COUNT|LINES|NUMBER|TOP|LIMIT|PORT|PID|REPLICAS|MAX|DEPTH|RETRIES|N", "number"),
    ("PATTERN|GLOB|MASK|EXTENSION|FILTER", "glob"),
    ("TEXT|STRING|WORD|QUERY|EXPRESSION|MESSAGE", "quoted"),
    (
        "SERVICE|UNIT|CONTAINER|POD|DEPLOYMENT|NAMESPACE|USER|GROUP|PACKAGE|PROCESS|DATABASE|TABLE|"
        "HOST|HOSTNAME|NODE|INTERFACE|IMAGE|BRANCH|DOMAIN|QUEUE|KEY|NAME|VOLUME|INDEX|BUCKET|TIMER",
        "name",
    ),
)  # fmt: skip
_UNIT_OF_NAME = {"SECONDS": 1, "MINUTES": 60, "HOURS": 3600, "DAYS": 86400, "WEEKS": 604800}
_SIZE_OF_NAME = {
    "BYTES": 1,
    "KB": 1024,
    "MB": 1024**2,
    "MEGABYTES": 1024**2,
    "GB": 1024**3,
    "GIGABYTES": 1024**3,
}
# The kinds that can replace each kind.
_LIKE: dict[str, tuple[str, ...]] = {
    "number": ("number", "percent"),
    "percent": ("percent", "number"),
    "glob": ("glob", "quoted"),
    "quoted": ("quoted", "name", "glob"),
    "name": ("name", "quoted"),
}
_FIND_TIME = re.compile(r'-(?P<which>[amc])(?P<unit>time|min) (?P<sign>[+-]?)"?(?P<count>\d+)"?')
_PERIOD = re.compile(
    rf"(?<![\w.])(?P<count>\d+)(?P<gap> ?)(?P<unit>{'|'.join(PERIOD_SECONDS)}|m)(?P<plural>s?)\b"
)
_SIZE = re.compile(
    r"(?P<before>-size [+-]?)?(?<![\w.])(?P<count>\d+)(?P<gap> (?=[kKmMgGtT]i?[bB]))?"
    r"(?P<unit>[kKmMgGtT])(?P<tail>i?[bB])?\b"
)


class Parameter(NamedTuple):
    """A parameter of a script: its position, its name, and its default if it has one."""

    start: int
    end: int
    name: str
    default: str


def adapt_script(script: str, *, example: str, statement: str) -> str:
    """Adapt `script`, which does what `example` says, to the literals of `statement`.

    The example's literals are replaced first. The statement's remaining literals fill the script's parameters.
    """
    pairs, left = _pair_mentions(find_mentions(example), find_mentions(statement))
    edits: list[Edit] = []
    for old, new in pairs:
        found = list(find_edits(script, old, new))
        edits += found
        if not found:
            left.append(new)
    edits += _bind_parameters(script, left, taken=edits)
    return insert_at(script, edits)


def _pair_mentions(
    olds: Sequence[Mention], news: Sequence[Mention]
) -> tuple[list[tuple[Mention, Mention]], list[Mention]]:
    """Pair the literals of the example and the statement, and list the statement's unpaired literals.

    If both have the same number of literals of a kind, pair them in order. Otherwise keep shared literals unpaired.
    """
    pairs: list[tuple[Mention, Mention]] = []
    spare: list[Mention] = []
    left: list[Mention] = []
    for kind in dict.fromkeys(mention.kind for mention in (*olds, *news)):
        mine = [mention for mention in olds if mention.kind == kind]
        theirs = [mention for mention in news if mention.kind == kind]
        if len(mine) != len(theirs):
            shared = {mention.key for mention in mine} & {mention.key for mention in theirs}
            mine = [mention for mention in mine if mention.key not in shared]
            theirs = [mention for mention in theirs if mention.key not in shared]
        pairs += zip(mine, theirs, strict=False)
        spare += mine[len(theirs) :]
        left += theirs[len(mine) :]
    for new in list(left):
        old = next((candidate for candidate in spare if _is_like(candidate, new)), None)
        if old:
            spare.remove(old)
            left.remove(new)
            pairs.append((old, new))
    return [(old, new) for old, new in pairs if old.key != new.key], left


def find_edits(script: str, old: Mention, new: Mention) -> Iterator[Edit]:
    """Yield an edit from `old` to `new` for every position where `new` can be inserted."""
    if old.kind == new.kind == "age":
        yield from _age_edits(script, int(old.value), int(new.value))
    elif old.kind == new.kind == "size":
        yield from _size_edits(script, int(old.value), int(new.value))
    else:
        for match in _pattern_of(old).finditer(script):
            yield Edit(*match.span(), new.text)


def list_parameters(script: str) -> list[Parameter]:
    """List the parameters that a script declares and the uppercase variables that it sets."""
    return [
        Parameter(
            *match.span(),
            match["name"] or match["plain"],
            (match["default"] or match["value"] or "").strip("\"'"),
        )
        for match in _ASSIGNED.finditer(script)
    ]


def _pattern_of(mention: Mention) -> re.Pattern[str]:
    text = re.escape(mention.text.rstrip("/") or "/")
    if mention.kind == "path" and mention.value in (".", "/", "~"):
        return re.compile(rf"(?<=\s){re.escape(mention.value)}(?=\s|$)", re.MULTILINE)
    if mention.kind in ("number", "percent"):
        return re.compile(rf"(?:(?<![\w.])|(?<=-n)){text}(?![\w.])")
    if mention.kind == "name":  # Also in deployment/NAME and /etc/NAME.
        return re.compile(rf"(?<![\w.-]){text}(?![\w-])")
    return re.compile(rf"(?<![\w./-]){text}(?![\w-])")


def _age_edits(script: str, old: int, new: int) -> Iterator[Edit]:
    for match in _FIND_TIME.finditer(script):
        seconds = int(match["count"]) * (60 if match["unit"] == "min" else 86400)
        if seconds == old:
            in_days = match["unit"] == "time" and new % 86400 == 0
            unit, count = ("time", new // 86400) if in_days else ("min", new // 60)
            yield Edit(*match.span(), f"-{match['which']}{unit} {match['sign']}{count}", raw=True)
    for match in _PERIOD.finditer(script):
        if int(match["count"]) * PERIOD_SECONDS.get(match["unit"], 60) == old:
            yield Edit(*match.span(), _say_period(new, short=len(match["unit"]) == 1), raw=True)
    for parameter in list_parameters(script):
        each = _unit_of(parameter.name, _UNIT_OF_NAME)
        if (
            each
            and parameter.default.isdecimal()
            and int(parameter.default) * each == old
            and new % each == 0
        ):
            yield _set_parameter(parameter, str(new // each))


def _size_edits(script: str, old: int, new: int) -> Iterator[Edit]:
    for match in _SIZE.finditer(script):
        if int(match["count"]) * SIZE_BYTES[match["unit"].lower()] == old:
            shown = _say_size(new, small=bool(match["before"]))
            shown = f"{shown[:-1]}{match['gap'] or ''}{shown[-1]}{match['tail'] or ''}"
            yield Edit(match.start("count"), match.end(), shown, raw=True)
    for wanted, given in ((old, new), (_in_thousands(old), _in_thousands(new))):
        for match in re.finditer(rf"(?<![\w.]){wanted}(?=c?\b)(?!\.)", script):
            yield Edit(*match.span(), str(given))
    for parameter in list_parameters(script):
        each = _unit_of(parameter.name, _SIZE_OF_NAME)
        if (
            each
            and parameter.default.isdecimal()
            and int(parameter.default) * each == old
            and new % each == 0
        ):
            yield _set_parameter(parameter, str(new // each))


def _in_thousands(size: int) -> int:
    """Convert a size in KiB, MiB or GiB to powers of 1000."""
    thousands = 1
    while size % 1024 == 0 and size:
        size, thousands = size // 1024, thousands * 1000
    return size * thousands


def _say_period(seconds: int, *, short: bool) -> str:
    for name, each in (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1)):
        if seconds % each == 0:
            count = seconds // each
            return f"{count}{name[0]}" if short else f"{count} {name}{'' if count == 1 else 's'}"
    return f"{seconds}s"


def _say_size(size: int, *, small: bool) -> str:
    for letter in "GMK":
        each = SIZE_BYTES[letter.lower()]
        if size % each == 0:
            return f"{size // each}{letter.lower() if small and letter == 'K' else letter}"
    return f"{size}{'c' if small else ''}"


def _bind_parameters(
    script: str, mentions: Sequence[Mention], *, taken: Iterable[Edit]
) -> Iterator[Edit]:
    """Yield edits that assign literals to unchanged parameters, by kind and by noun."""
    places = list(taken)
    free = [
        parameter
        for parameter in list_parameters(script)
        if not any(edit.start < parameter.end and parameter.start < edit.end for edit in places)
    ]
    for mention in mentions:
        fitting = [(parameter, _value_for(parameter, mention)) for parameter in free]
        options = [(parameter, value) for parameter, value in fitting if value]
        if options:
            named = [
                option
                for option in options
                if mention.noun and mention.noun.upper() in option[0].name
            ]
            parameter, value = (named or options)[0]
            free.remove(parameter)
            yield _set_parameter(parameter, value)


def _value_for(parameter: Parameter, mention: Mention) -> str:
    """Return `mention` written as the value of `parameter`, or "" if it does not fit."""
    kind = _kind_of(parameter)
    if mention.kind not in _LIKE.get(kind, (kind,)):
        return ""
    if kind == "age":
        each = _unit_of(parameter.name, _UNIT_OF_NAME)
        if each:
            return str(int(mention.value) // each) if int(mention.value) % each == 0 else ""
        ago = (
            " ago" if parameter.default.endswith("ago") or parameter.name.endswith("SINCE") else ""
        )
        return _say_period(int(mention.value), short=False) + ago
    if kind == "size":
        each = _unit_of(parameter.name, _SIZE_OF_NAME)
        if each:
            return str(int(mention.value) // each) if int(mention.value) % each == 0 else ""
        return _say_size(int(mention.value), small="k" in parameter.default)
    return mention.value if kind in ("number", "percent") else mention.text


def _kind_of(parameter: Parameter) -> Kind:
    words = parameter.name.split("_")
    for word in reversed(words):
        for names, kind in _KINDS:
            if word in names.split("|"):
                return kind
    if parameter.default.isdecimal():
        return "number"
    return "path" if parameter.default[:1] in ("/", "~") else "name"


def _unit_of(name: str, units: dict[str, int]) -> int:
    return next((units[word] for word in reversed(name.split("_")) if word in units), 0)


def _set_parameter(parameter: Parameter, value: str) -> Edit:
    """Return the edit that sets a default. A value that could break the expansion becomes a quoted assignment."""
    value = re.sub(r"^~(?=/|$)", "$HOME", value)  # A tilde is not expanded in double quotes.
    if re.search(r'[}"`\\]|\$(?!HOME\b)', value):
        quoted = value.replace("'", "'\\''")
        return Edit(parameter.start, parameter.end, f"{parameter.name}='{quoted}'", raw=True)
    return Edit(parameter.start, parameter.end, f': "${{{parameter.name}:={value}}}"', raw=True)


def _is_like(old: Mention, new: Mention) -> bool:
    return new.kind in _LIKE.get(old.kind, (old.kind,))
