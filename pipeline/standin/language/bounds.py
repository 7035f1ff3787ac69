"""Find the bounds of ages and sizes in a statement: older or newer, larger or smaller. Never guess a bound."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from pipeline.standin.language.literals import Mention
from pipeline.standin.language.marked_text import MarkedText

Side = Literal["more", "less", "exact"]

_READ = r"accessed|read|opened"
_VERB = rf"(?P<verb>{_READ}|modified|changed|touched|updated|written(?: to)?)"
_THAT = r"(?:(?:that|which|and|but) )?"
_WAS = rf"{_THAT}(?:(?:have|has|had) been |(?:were|was|are|is) )?(?:last )?"
_NOT = rf"{_THAT}(?:(?:have|has|had|were|was|are|is)(?: not|n['’]t)|not) (?:been )?(?:last )?"
_LAST = r"(?:the )?(?:(?:last|past|previous) )?"
_PLACE = r"(?:in|under|inside) (?:the )?(?:directory |folder )?<path>"
_MUCH = r"(?:more than|over|longer than)"


class _Phrase(NamedTuple):
    """A phrase for a bound. If `including`, the bound itself is included. `kept` is the part that stays in the text."""

    side: Side
    pattern: str
    including: bool = False
    kept: str = ""


# The first match wins, so negated phrases come before the phrases they negate.
_AGES = (
    _Phrase("less", rf"(?:not|no) older than {_LAST}<age>", including=True),
    _Phrase("more", rf"(?:not|no) (?:newer|younger) than {_LAST}<age>", including=True),
    _Phrase(
        "more",
        rf"{_NOT}{_VERB} (?:in|for|within|during|over|since) (?:(?:{_MUCH}|at least) )?{_LAST}<age>(?: ago)?",
    ),
    _Phrase(
        "more",
        r"(?P<verb>untouched|unmodified|unchanged|unread) (?:in|for|since) "
        rf"(?:(?:{_MUCH}|at least) )?{_LAST}<age>",
    ),
    _Phrase("more", rf"{_WAS}{_VERB} {_MUCH} <age> ago"),
    _Phrase("more", rf"{_WAS}{_VERB} at least <age> ago", including=True),
    _Phrase("more", rf"{_WAS}{_VERB} <age> or more ago", including=True),
    _Phrase("less", rf"{_WAS}{_VERB} (?:less than|under) <age> ago"),
    _Phrase("less", rf"{_WAS}{_VERB} (?:in|during|over) the (?:(?:last|past|previous) )?<age>"),
    _Phrase("less", rf"{_WAS}{_VERB} within {_LAST}<age>"),
    _Phrase("less", rf"{_WAS}{_VERB} since <age> ago"),
    _Phrase(
        "more",
        rf"{_THAT}(?:have|has) been (?:lying |sitting )?(?P<place>{_PLACE}) for {_MUCH} <age>",
        kept=r"\g<place>",
    ),
    _Phrase(
        "more",
        rf"\bkeep (?:only )?(?:the files (?:of|from) )?the (?:last|past|latest) <age>(?P<place> {_PLACE})?,? "
        r"(?:and|then|but) (?P<order>delete|remove|erase|purge) (?:all )?(?:the )?older (?P<files>files)\b",
        kept=r"\g<place> and \g<order> \g<files>",
    ),
    _Phrase("more", r"older than (?:the (?:last |past )?)?<age>"),
    _Phrase("more", rf"{_MUCH} <age> (?:ago|old)\b"),
    _Phrase("more", r"at least <age> (?:ago|old)\b", including=True),
    _Phrase("more", r"<age> (?:old )?(?:and|or) (?:older|more)(?: old)?\b", including=True),
    _Phrase(
        "more",
        rf"(?:whose |with an )?\bage (?:exceeds|exceeding|(?:is |of )?(?:above|greater than|{_MUCH})) <age>",
    ),
    _Phrase("less", rf"(?:newer|younger) than {_LAST}<age>"),
    _Phrase("less", r"(?:less than|under) <age> (?:ago|old)\b"),
    _Phrase("less", r"at most <age> (?:ago|old)\b", including=True),
    _Phrase("less", r"<age> (?:old )?(?:and|or) (?:newer|younger|less)(?: old)?\b", including=True),
    _Phrase("less", r"\b(?:from|of|in|within|during|over) the (?:(?:last|past|previous) )?<age>"),
    _Phrase("less", r"\b(?:within|since) <age>(?: ago)?"),
)
_SIZED = r"(?:(?:that|which) (?:are|is) |whose size is |(?:with|of) a size (?:of )?)?"
_IN_SIZE = r"(?: in size\b)?"
_SIZES = (
    _Phrase("less", rf"{_SIZED}(?:not|no) (?:larger|bigger|more) than <size>", including=True),
    _Phrase("more", rf"{_SIZED}(?:not|no) (?:smaller|less) than <size>", including=True),
    _Phrase("more", rf"{_SIZED}(?:larger|bigger|greater|more) than <size>{_IN_SIZE}"),
    _Phrase("more", rf"{_SIZED}(?:over|above|exceeding) <size>{_IN_SIZE}"),
    _Phrase("more", r"(?:that |which |whose size )exceeds? <size>(?: in size\b)?"),
    _Phrase("more", rf"{_SIZED}at least <size>{_IN_SIZE}", including=True),
    _Phrase("more", r"<size> (?:or|and) (?:larger|bigger|more)\b", including=True),
    _Phrase("less", rf"{_SIZED}(?:smaller|less) than <size>{_IN_SIZE}"),
    _Phrase("less", rf"{_SIZED}(?:under|below) <size>{_IN_SIZE}"),
    _Phrase("less", rf"{_SIZED}(?:at most|up to) <size>{_IN_SIZE}", including=True),
    _Phrase("less", r"<size> (?:or|and) (?:smaller|less)\b", including=True),
)
_NOTHING_IN_IT = r"(?:(?:that|which) are |of |with )(?:a size of |size )?<size>"
_FIRST_BUT_NOT = r"(?<![\w'’-])"


class Bound(NamedTuple):
    """An age or size, and the side of it that a statement asks for."""

    mention: Mention
    side: Side
    including: bool = False
    accessed: bool = False


def take_bounds(text: MarkedText) -> list[Bound]:
    """Remove the age and size bounds from a text and return them. Ages and sizes that are not bounds remain."""
    found = []
    for kind, phrases in (("age", _AGES), ("size", _SIZES)):
        for phrase in phrases:
            while match := text.take(f"{_FIRST_BUT_NOT}{phrase.pattern}", kept=phrase.kept):
                verb = match.groupdict().get("verb") or ""
                accessed = re.fullmatch(f"{_READ}|unread", verb, re.IGNORECASE) is not None
                found.append(
                    Bound(text.mention(match, kind), phrase.side, phrase.including, accessed)
                )
    found += _take_empty(text)
    return sorted(found, key=lambda bound: (bound.mention.kind, bound.mention.start))


def read_bounds(statement: str) -> list[Bound]:
    """Return the bounds in a statement."""
    return take_bounds(MarkedText(statement))


def _take_empty(text: MarkedText) -> list[Bound]:
    """Remove the phrase for empty files and return its bound. Zero bytes is the only exact size."""
    match = _search_empty(text)
    if match is None:
        return []
    text.take(f"{_FIRST_BUT_NOT}{_NOTHING_IN_IT}")
    return [Bound(match, "exact")]


def _search_empty(text: MarkedText) -> Mention | None:
    left = [mention for mention in text.left() if mention.kind == "size"]
    said = text.says(f"{_FIRST_BUT_NOT}{_NOTHING_IN_IT}")
    return left[0] if said and len(left) == 1 and left[0].value == "0" else None
