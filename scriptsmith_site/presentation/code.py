"""A script as lines of safe HTML: syntax colours, hidden characters marked, findings at their lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

# Django's escapes the same, and first asks whether the text is a promise of one.
from html import escape
from typing import NamedTuple, Protocol, TypeVar

from django.utils.html import format_html
from django.utils.safestring import SafeString
from pygments.lexers.shell import BashLexer
from pygments.token import STANDARD_TYPES, Token, _TokenType

from catalog.analysis import HiddenCharacter, find_hidden_characters, find_odd_in_words
from scriptsmith_site.presentation.findings import ShownFinding, read_finding

# Beyond this a script is shown without colours: the lexer would keep the reader waiting.
_MOST_COLOURED = 200_000
# Longer ones are rare, and would fill the memory: their HTML is some eight times as long.
_MOST_KEPT = 8_000


class OnLine(Protocol):
    """What somebody said of one line; the template knows the rest of it."""

    @property
    def line(self) -> int: ...


Said = TypeVar("Said", bound=OnLine)


class Piece(NamedTuple):
    """Lines that follow each other, and what there is to say of the last of them."""

    html: SafeString
    findings: Sequence[ShownFinding] = ()
    remarks: Sequence[OnLine] = ()


def show_code(
    script: str,
    id: str,
    findings: Iterable[object] = (),
    remarks: Iterable[OnLine] = (),
) -> list[Piece]:
    """The script's numbered lines, cut after each of which something was found, the most severe first, or said.

    Findings without a line stand at the first. There are so many lines that a template would take its time.
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
    """Line to what was found in it, the most severe first; findings without a line stand at the first."""
    by_line: dict[int, list[ShownFinding]] = {}
    for finding in findings:
        shown, line = read_finding(finding)
        by_line.setdefault(min(max(line or 1, 1), lines), []).append(shown)
    for found in by_line.values():
        found.sort(key=lambda one: one.rank)
    return by_line


def lines_of(findings: Iterable[object]) -> set[int]:
    """The lines that something was found in."""
    return {line for _shown, line in map(read_finding, findings) if line}


def group_by_line(remarks: Iterable[Said]) -> dict[int, list[Said]]:
    """Line to what is said of it, in the order in which it was said."""
    grouped: dict[int, list[Said]] = {}
    for one in remarks:
        grouped.setdefault(one.line, []).append(one)
    return grouped


def coloured_lines(script: str) -> tuple[SafeString, ...]:
    """One piece of safe HTML for each line, without line ends; the text itself is exactly the script's."""
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
        # The name is Pygments' own and the rest is escaped: what format_html does anew would be for nothing.
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
    """The lines of a token without their ends, each with its place in the script; most tokens have one."""
    if "\n" not in value:
        yield start, value.removesuffix("\r")
        return
    for part in value.split("\n"):
        yield start, part.removesuffix("\r")
        start += len(part) + 1


# A campaign's scripts come up again and again, with each of its reviewers and after each of their scores.
_kept_lines = lru_cache(maxsize=2_048)(_colour_lines)


def mark_words(text: str) -> SafeString:
    """What people wrote, escaped, with what is hidden in it or looks like something else made visible."""
    return _escape_part(text, 0, {found.offset: found for found in find_odd_in_words(text)})


def _escape_part(part: str, offset: int, odd: Mapping[int, HiddenCharacter]) -> SafeString:
    """The text, escaped, with what is hidden in it or looks like something else made visible."""
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
    """Pygments' short class of a token, or of the nearest kind above it that has one."""
    above: _TokenType | None = kind
    while above is not None and above not in STANDARD_TYPES:
        above = above.parent
    return STANDARD_TYPES[above] if above is not None else ""
