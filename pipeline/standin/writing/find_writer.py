"""Rules that convert a statement's phrases about names, ages and sizes to a find command.

The statement is parsed phrase by phrase. Phrases without a rule are reported as unplaced.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from pipeline.standin.language.bounds import Bound, take_bounds
from pipeline.standin.language.coverage import list_unplaced, take_verbs
from pipeline.standin.language.literals import Mention
from pipeline.standin.language.marked_text import MarkedText
from pipeline.standin.language.shell_syntax import quote_for
from pipeline.standin.writing.attempt import Attempt
from pipeline.standin.writing.find_names import take_names

_THINGS = (
    r"(?:(?:all|any|every|each|the|regular|ordinary) )*"
    r"(?P<thing>files?|directories|folders|subdirectories|symlinks?|symbolic links|everything)\b"
)
_BOTH = (
    r"\bfiles? (?:and|or) (?:directories|folders)\b|\b(?:directories|folders) (?:and|or) files\b"
)
_INTO = (
    r"\b(?:into|to|as)(?: (?:the|a|an))?(?: (?:directory|folder|archive|file|tarball))? <path>"
    r"(?: (?:directory|folder))?"
)
_KIND = r"(?:directory tree|directory|folder|tree|path)"
_PLACE = (
    r"\b(?:in|under|below|beneath|from|inside|within|of|on|at|throughout|across)(?: (?:the|my|our|this))?"
    rf"(?: (?:whole|entire))?(?: {_KIND})? <path>(?: {_KIND}\b)?"
)
_BELOW = (
    r",? (?:and|including|with)(?: all| any)?(?: of)?(?: its| the)? (?:subdirectories|subfolders)\b|"
    r"\brecursively\b"
)
_FLAT = (
    r"\b(?:but )?not recursive(?:ly)?\b|\bnon-recursive(?:ly)?\b|\bwithout (?:descending|recursing)\b|"
    r"\btop.level only\b|"
    r"\b(?:but )?not in (?:its |the |any )?subdirectories\b|\bdirectly(?= in\b)"
)
_EMPTY = r"(?<![\w-])empty(?= (?:files?|directories|folders|subdirectories)\b)|\b(?:that|which) are empty\b"
_NO_NAMES = (
    "nobody|no|none|nonexistent|any|anyone|anybody|everyone|someone|somebody|another|other|deleted|"
    "users?|groups?|an?|the|me|us|him|her|them|each|every|both"
)
_OWNER = (
    rf"(?:\b(?:that|which) (?:are |is ))?\b(?:owned by|(?:that |which )?belong(?:s|ing)? to|of the user|of user)"
    rf"(?: the)?(?: user)? (?:<name>|(?!(?:{_NO_NAMES})\b)(?P<who>[a-z_][\w-]*))"
)
_TEXT = r"(?:\b(?:that|which) )?\b(?:contain(?:s|ing)?|with)(?: the)?(?: (?:text|words?|phrase|string|line))? <quoted>"
_IGNORING_CASE = (
    r",? ?\b(?:case.insensitive(?:ly)?|ignoring (?:the )?case|regardless of (?:the )?case)\b"
)
_SEARCHED = r"\bnames of\b|\bpaths of\b|\bfor(?= (?:all |any )?files\b)"
_VERBS = {"delete", "find", "count", "compress", "copy", "move", "permit", "check"}
_PASSING = {"find", "check"}
_SHOWN = r"\b(?:list|show|print|display|output|report)\b"


class _Read(NamedTuple):
    """The parsed parts of a statement."""

    verbs: set[str]
    thing: str
    places: list[str]
    target: str
    tests: list[str]
    text: str
    ignoring_case: bool
    number: str


def write_find(statement: str, mentions: Sequence[Mention]) -> Attempt | None:
    """Write a find command for `statement`, or return None if the statement is not about finding files."""
    text = MarkedText(statement, mentions)
    thing_is_said = text.says(_THINGS) or (text.says("<path>") and text.says(r"\blogs\b"))
    if not thing_is_said:
        return None
    read = _read(text)
    left = [mention.text for mention in text.left() if not mention.is_place]
    unplaced = [*list_unplaced(text, (), strictly=True), *left]
    strong = read.verbs - _PASSING
    if not read.verbs <= _VERBS or len(strong) > 1:
        return None
    action = _write_action(statement, read)
    if action is None or (strong and not read.places and strong != {"count"}):
        return None  # Never change anything in an unspecified directory.
    words = ["find", *(quote_for(place, "bare") for place in read.places or ["."])]
    return Attempt(" ".join(filter(None, [*words, *read.tests, action])), tuple(unplaced))


def _read(text: MarkedText) -> _Read:
    """Remove and parse all known phrases. Longer phrases come before the phrases that they contain."""
    text.take_all(_SEARCHED)
    bounds = take_bounds(text)
    number = (
        text.take(r"\bto (?:mode )?<number>") if text.says(r"\b(?:permissions?|chmod)\b") else None
    )
    permits = text.take(r"\b(?:change|set)(?: the)? permissions?(?: (?:of|on|for))?\b")
    flat = bool(text.take_all(_FLAT))
    empty = bool(text.take_all(_EMPTY))
    ignoring_case = bool(text.take_all(_IGNORING_CASE))
    names = take_names(text, test="-iname" if ignoring_case else "-name")
    owners = [_name_of(text, match) for match in text.take_all(_OWNER)]
    said = text.take(_TEXT)
    counted = text.take(r"\b(?:the )?(?:total )?number of\b")
    verbs = (
        take_verbs(text) | ({"count"} if counted else set()) | ({"permit"} if permits else set())
    )
    target = text.take(_INTO) if verbs & {"copy", "move", "compress"} else None
    text.take_all(_BELOW)
    found = [text.mention(match, "path") for match in text.take_all(_PLACE)]
    places = [
        one.text
        for one in sorted([*found, *text.left()], key=lambda one: one.start)
        if one.is_place
    ]
    if verbs <= {*_PASSING, "count", "compress"} and any("log" in place for place in places):
        # If no file is lost, any file in a log directory may count as a log.
        text.take_all(r"\blog(?= files?\b)|\blogs\b")
        text.take_all(r"<name>(?=\s)")
    things = _take_things(text, bounds)
    tests = [
        "-maxdepth 1" if flat else "",
        "-mindepth 1" if things == "-type d" and "delete" in verbs else "",
        things,
        *names,
        *(f"-user {quote_for(owner, 'bare')}" for owner in owners),
        *(_write_bound(bound) for bound in bounds),
        "-empty" if empty else "",
    ]
    return _Read(
        verbs,
        things,
        places,
        quote_for(text.mention(target, "path").text, "bare") if target else "",
        tests,
        text.mention(said, "quoted").text if said else "",
        ignoring_case,
        text.mention(number, "number").text if number else "",
    )


def _name_of(text: MarkedText, match: re.Match[str]) -> str:
    return match["who"] or text.mention(match, "name").text


def _take_things(text: MarkedText, bounds: Sequence[Bound]) -> str:
    """Return the test for the file type, and remove the words that repeat other tests."""
    sides = {(bound.mention.kind, bound.side) for bound in bounds}
    if ("age", "more") in sides:
        text.take_all(r"\bold\b")
    if ("size", "more") in sides:
        text.take_all(r"\b(?:large|big)\b")
    both = text.take_all(_BOTH)
    things = {match["thing"].lower() for match in text.take_all(_THINGS)}
    if both or (things == {"everything"} and not bounds):
        return ""
    if things & {"symlink", "symlinks", "symbolic links"}:
        return "-type l"
    if things & {"directories", "folders", "subdirectories"}:
        return "-type d" if not things & {"file", "files"} else ""
    return "-type f"


def _write_bound(bound: Bound) -> str:
    """Return the test for one side of an age or size, never rounded to the other side."""
    value, more = int(bound.mention.value), bound.side == "more"
    if bound.mention.kind == "age":
        letter = "a" if bound.accessed else "m"
        days, rest = divmod(value, 86400)
        test, count = ("min", max(1, value // 60)) if rest else ("time", days)
        # "45 days or older" means "not younger than 45 days", because +45 would leave out day 45.
        sign = "+" if more != bound.including else "-"
        return f"{'! ' if bound.including else ''}-{letter}{test} {sign}{count}"
    if bound.side == "exact":
        return f"-size {value}c"
    sign = "+" if more != bound.including else "-"
    return f"{'! ' if bound.including else ''}-size {sign}{_write_size(value, exactly=sign == '-')}"


def _write_size(value: int, *, exactly: bool) -> str:
    """Return a size in its largest whole unit, or in bytes if find's rounding would leave out the last unit."""
    for unit, each in (("G", 1024**3), ("M", 1024**2), ("k", 1024)):
        if value % each == 0 and not exactly:
            return f"{value // each}{unit}"
    return f"{value}c"


def _write_action(statement: str, read: _Read) -> str | None:
    """Return the action for each match, or None if no rule covers it."""
    if read.text:
        case = "i" if read.ignoring_case else ""
        searched = f"-exec grep -l{case} -- {quote_for(read.text, 'bare')} {{}} +"
        return searched if not read.verbs - _PASSING else None
    verb = next(iter(read.verbs - _PASSING), "")
    if verb == "delete":
        if read.thing != "-type f" and read.thing != "-type l" and "-empty" not in read.tests:
            return None  # Keep directories that are not empty: the statement does not mention their contents.
        shown = "find" in read.verbs and re.search(_SHOWN, statement, re.IGNORECASE)
        return "-print -delete" if shown else "-delete"
    if verb == "count":
        return "| wc -l"
    if verb == "compress":
        return (
            f"-print0 | tar -czf {read.target} --null -T -"
            if re.search(r"\.(?:tar\.gz|tgz)['\"]?$", read.target)
            else None
            if read.target
            else "-exec gzip {} +"
        )
    if verb == "copy" and read.target:
        return rf"-exec cp {{}} {read.target} \;"
    if (
        verb == "move" and read.target
    ):  # Never overwrite a file, and never rename one to the folder's name.
        return rf"-exec mv -n {{}} {read.target.rstrip('/')}/ \;"
    if verb == "permit":
        octal = re.fullmatch(r"[0-7]{3,4}", read.number)
        return f"-exec chmod {read.number} {{}} +" if octal else None
    return None if verb else ""
