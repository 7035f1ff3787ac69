"""Render a script as lines of safe HTML, with syntax colors, marked hidden characters and findings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

# Escapes the same characters as Django's `escape`, but is faster because it does not check for lazy strings.
from html import escape
from typing import NamedTuple, Protocol, TypeVar

from django.utils.html import format_html
from django.utils.safestring import SafeString
from pygments.lexers.shell import BashLexer
from pygments.token import STANDARD_TYPES, Token, _TokenType

from catalog.analysis import HiddenCharacter, find_hidden_characters, find_odd_in_words
from scriptsmith_site.presentation.findings import ShownFinding, read_finding

# Longer scripts are shown without syntax colors, because the lexer would delay the page.
_MOST_COLOURED = 200_000
# Longer scripts are not cached. They are rare, and their HTML is about eight times as long as their text.
_MOST_KEPT = 8_000


class OnLine(Protocol):
    """A remark about one line. The template uses its other fields."""

    @property
    def line(self) -> int: ...


Said = TypeVar("Said", bound=OnLine)


class Piece(NamedTuple):
    """Consecutive lines, with the findings and remarks about the last of them."""

    html: SafeString
    findings: Sequence[ShownFinding] = ()
    remarks: Sequence[OnLine] = ()


def show_code(
    script: str,
    id: str,
    findings: Iterable[object] = (),
    remarks: Iterable[OnLine] = (),
) -> list[Piece]:
    """Render the script's numbered lines, split after each line that has findings or remarks.

    Findings of a line are sorted by severity. Findings without a line are shown at the first line. The lines are
    built here because a template would be slow for long scripts.
    """
    said, safe_id = group_by_line(remarks), escape(id)
    lines = [
        f'<span class="line" id="{safe_id}-L{number}" data-line="{number}">{html}\n</span>'
        for number, html in enumerate(coloured_lines(script), start=1)
    ]
    by_line = findings_by_line(findings, len(lines))
    pieces, done = [], 0
    for number in sorted({*by_line, *(one for one in said if 1 <= one <= len(lines))}):
        found, html = by_line.get(number, ()), SafeString("".join(lines[done:number]))
        pieces.append(Piece(html, found, said.get(number, ())))
        done = number
    if done < len(lines):
        pieces.append(Piece(SafeString("".join(lines[done:]))))
    return pieces


def findings_by_line(findings: Iterable[object], lines: int) -> dict[int, list[ShownFinding]]:
    """Map each line to its findings, most severe first. Findings without a line are assigned to the first line."""
    by_line: dict[int, list[ShownFinding]] = {}
    for finding in findings:
        shown, line = read_finding(finding)
        by_line.setdefault(min(max(line or 1, 1), lines), []).append(shown)
    for found in by_line.values():
        found.sort(key=lambda one: one.rank)
    return by_line


def lines_of(findings: Iterable[object]) -> set[int]:
    """Return the numbers of the lines that have findings."""
    return {line for _shown, line in map(read_finding, findings) if line}


def group_by_line(remarks: Iterable[Said]) -> dict[int, list[Said]]:
    """Map each line to its remarks, in their original order."""
    grouped: dict[int, list[Said]] = {}
    for one in remarks:
        grouped.setdefault(one.line, []).append(one)
    return grouped


def coloured_lines(script: str) -> tuple[SafeString, ...]:
    """Return safe HTML for each line, without line endings. The text content equals the script's lines."""
    return _kept_lines(script) if len(script) <= _MOST_KEPT else _colour_lines(script)


def _colour_lines(script: str) -> tuple[SafeString, ...]:
    text = script.removesuffix("\n")
    odd = {found.offset: found for found in find_hidden_characters(script)}
    if len(text) > _MOST_COLOURED:
        tokens: Iterable[tuple[int, _TokenType, str]] = [(0, Token, text)]
    else:
        tokens = BashLexer().get_tokens_unprocessed(text)
    lines: list[list[str]] = [[]]
    for start, kind, value in tokens:
        # The class name is from Pygments and the text is escaped, so `format_html` would only repeat the work.
        name = _class_of(kind)
        opening, closing = (f'<span class="{name}">', "</span>") if name else ("", "")
        for position, (offset, part) in enumerate(_split(value, start)):
            if position:
                lines.append([])
            if part:
                html = _escape_part(part, offset, odd) if odd else escape(part)
                lines[-1].append(f"{opening}{html}{closing}")
    return tuple(SafeString("".join(parts)) for parts in lines)


def _split(value: str, start: int) -> Iterable[tuple[int, str]]:
    """Split a token into lines without line endings, each with its offset in the script."""
    if "\n" not in value:
        yield start, value.removesuffix("\r")
        return
    for part in value.split("\n"):
        yield start, part.removesuffix("\r")
        start += len(part) + 1


# A campaign's scripts are shown to every reviewer and again after each score, so their lines are cached.
_kept_lines = lru_cache(maxsize=2_048)(_colour_lines)


def mark_words(text: str) -> SafeString:
    """Escape user-written text and mark hidden or confusable characters in it."""
    return _escape_part(text, 0, {found.offset: found for found in find_odd_in_words(text)})


def _escape_part(part: str, offset: int, odd: Mapping[int, HiddenCharacter]) -> SafeString:
    """Escape the text and mark the odd characters in it. `odd` maps offsets in the whole script to characters."""
    marked = [place for place in range(offset, offset + len(part)) if place in odd] if odd else []
    if not marked:
        return SafeString(escape(part))
    html, done = [], 0
    for place in marked:
        found, here = odd[place], place - offset
        html.append(escape(part[done:here]))
        html.append(
            format_html(
                '<mark class="odd" data-code="{}" title="{}">{}</mark>',
                found.code_point,
                found.name,
                part[here],
            )
        )
        done = here + 1
    html.append(escape(part[done:]))
    return SafeString("".join(html))


@cache
def _class_of(kind: _TokenType) -> str:
    """Return the short Pygments class of a token type, or of its closest ancestor that has one."""
    above: _TokenType | None = kind
    while above is not None and above not in STANDARD_TYPES:
        above = above.parent
    return STANDARD_TYPES[above] if above is not None else ""
