"""A statement with marks for its literals. Rules remove the phrases that they understand.

The text that remains was not understood. In a pattern, `<age>` matches the mark of an age and names the group. A path
without a slash is a `<file>`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import cache

from pipeline.standin.language.literals import Mention, find_mentions

# Private-use characters delimit a mark, because no statement contains them.
_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK = re.compile(f"{_OPEN}([a-z]+)([0-9]+){_CLOSE}")
# Words that belong both to a literal and to the phrase around it.
_OUTSIDE = re.compile(r"(?:named|called|last|past) ", re.IGNORECASE)
_COURTESY = re.compile(
    r"^\W*(?:please )?(?:i|we) (?:need|want|have|(?:would|['’]d) like) to ", re.IGNORECASE
)
_SLOT = re.compile(r"(?<!\?P)<(?P<kind>[a-z]+)>")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
# Replaces a removed phrase. The gap is neither a word nor a blank, so no pattern spans it.
_GAP = "\ue002"


class MarkedText:
    """The remaining text of a statement, and its literals."""

    def __init__(self, statement: str, mentions: Sequence[Mention] | None = None) -> None:
        self.mentions = list(find_mentions(statement) if mentions is None else mentions)
        self.text = _mark(statement, self.mentions)

    def take(self, pattern: str, *, kept: str = "") -> re.Match[str] | None:
        """Remove the first matching phrase and return the match, or None. `kept` is a template for text that stays."""
        match = _compile(pattern).search(self.text)
        if match:
            rest = match.expand(kept) if kept else ""
            self.text = f"{self.text[: match.start()]}{rest}{_GAP}{self.text[match.end() :]}"
        return match

    def take_all(self, pattern: str) -> list[re.Match[str]]:
        """Remove all matching phrases and return the matches."""
        found = []
        while match := self.take(pattern):
            found.append(match)
        return found

    def says(self, pattern: str) -> bool:
        """Return whether the remaining text contains a matching phrase."""
        return _compile(pattern).search(self.text) is not None

    def mention(self, match: re.Match[str], slot: str) -> Mention:
        """Return the literal whose mark matched `slot`."""
        return self.mentions[int(match[slot])]

    def left(self) -> list[Mention]:
        """Return the literals whose marks remain, in order."""
        return [self.mentions[int(match[2])] for match in _MARK.finditer(self.text)]

    def words(self, known: Collection[str]) -> list[str]:
        """Return the remaining words in lowercase, except `known` words."""
        text = _MARK.sub(_GAP, self.text)
        return [word for word in map(str.lower, _WORD.findall(text)) if word not in known]


def _mark(statement: str, mentions: Sequence[Mention]) -> str:
    """Return the statement with a mark for each literal. Words such as "named" and "last" stay before the mark."""
    at, pieces = 0, []
    for number, mention in sorted(enumerate(mentions), key=lambda one: one[1].start):
        if mention.start < at:  # A place written in words may contain another literal.
            continue
        outside = _OUTSIDE.match(statement, mention.start, mention.end)
        before = statement[at : outside.end() if outside else mention.start]
        kind = "file" if mention.kind == "path" and not mention.is_place else mention.kind
        pieces.append(f"{before}{_OPEN}{kind}{number}{_CLOSE}")
        at = mention.end
    text = "".join([*pieces, statement[at:]])
    return _COURTESY.sub("", " ".join(text.replace(_GAP, " ").split()))


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    marked = _SLOT.sub(rf"{_OPEN}\g<kind>(?P<\g<kind>>[0-9]+){_CLOSE}", pattern)
    return re.compile(marked, re.IGNORECASE)
