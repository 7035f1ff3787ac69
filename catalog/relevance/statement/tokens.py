"""Split a text into tokens with positions. A token is a word, a quoted piece or another run of characters."""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST = 4_000  # maximum number of characters to read; most statements have one or two sentences

# Each line is one alternative: quoted pieces, a number with thousands separators, or any other run of characters. The
# limit of 200 characters per quoted piece prevents slow matching of texts with many unpaired quotes.
_CHUNK = re.compile(
    r"""
    (?<!\w)"(?P<double>[^"\n]{1,200})"
    | (?<!\w)'(?P<single>[^'\n]{1,200})'(?!\w)
    | (?<!\w)`(?P<tick>[^`'\n]{1,200})[`'](?!\w)
    | “(?P<curly>[^“”\n]{1,200})”
    | ‘(?P<curly1>[^‘’\n]{1,200})’
    | \d{1,3}(?:,\d{3})+(?![\w,])
    | [^\s"“”`(),;]+
    """,
    re.VERBOSE,
)
# A letter may be followed by combining marks.
_LETTERS = r"(?:[^\W\d_][\u0300-\u036f]*)+"
_WORDLIKE = re.compile(rf"{_LETTERS}(?:['’]{_LETTERS})?")
_OPENING = "'<{:=!|&"
_CLOSING = "'>}:=!?.|&"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a text, `text[start:end]`, without quotes and surrounding punctuation."""

    text: str
    start: int
    end: int
    is_quoted: bool = False
    ends_clause: bool = False  # a comma, a period or the like follows

    @property
    def lower(self) -> str:
        return self.text.lower()

    @property
    def is_word(self) -> bool:
        """Return whether the token has only letters, possibly with an apostrophe between them."""
        return not self.is_quoted and _WORDLIKE.fullmatch(self.text) is not None


def split_tokens(text: str) -> tuple[Token, ...]:
    """Return the tokens of the first `LONGEST` characters."""
    text = text[:LONGEST]
    tokens: list[Token] = []
    for match in _CHUNK.finditer(text):
        if match.lastgroup:
            start, end = match.span(match.lastgroup)
            token = Token(text[start:end], start, end, True, _is_clause_end(text, match.end()))
        else:
            token = _strip(text, match.start(), match.end())
        if token.text:
            tokens.append(token)
    return tuple(tokens)


def _strip(text: str, start: int, end: int) -> Token:
    """Return the run as a token without surrounding punctuation. Keep `.`, `..`, `*` and `~`."""
    run = text[start:end]
    if run not in (".", ".."):
        start += len(run) - len(run.lstrip(_OPENING))
        stripped = run.rstrip(_CLOSING)
        # A trailing `{}` belongs to a variable, and a trailing dot to a path such as `/.` or `..`.
        if run.endswith("}") and "{" in run:
            stripped = run
        elif run.rstrip(":,;!?").endswith(("/.", "/..")):
            stripped = run.rstrip(":,;!?")
        cut = len(run) - len(stripped)
        clause = cut > 0 and run[len(stripped)] in ".:!?" and end - cut > start
        end -= cut
    else:
        clause = False
    return Token(text[start:end], start, end, False, clause or _is_clause_end(text, end))


def _is_clause_end(text: str, end: int) -> bool:
    return end < len(text) and text[end] in ",;()"
