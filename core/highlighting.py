"""Split text into marked and unmarked pieces, for highlighting on pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Piece(NamedTuple):
    """A piece of text, marked or unmarked."""

    text: str
    is_marked: bool


def cut_at(text: str, spans: Iterable[tuple[int, int]]) -> list[Piece]:
    """Return the text as pieces, with the spans marked. Of overlapping spans, only the first is marked.

    >>> [piece.text for piece in cut_at("keep 30 days", [(5, 7)])]
    ['keep ', '30', ' days']
    """
    pieces, place = [], 0
    for start, end in sorted(set(spans)):
        if start < place or end <= start:
            continue
        if start > place:
            pieces.append(Piece(text[place:start], False))
        pieces.append(Piece(text[start:end], True))
        place = end
    if place < len(text):
        pieces.append(Piece(text[place:], False))
    return pieces
