"""Compare two texts line by line, and changed lines word by word, as rows for the diff component."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, zip_longest
from typing import NamedTuple, TypeVar

from django.utils.html import escape
from django.utils.safestring import SafeString

from scriptsmith_site.presentation.code import (
    OnLine,
    coloured_lines,
    findings_by_line,
    group_by_line,
)
from scriptsmith_site.presentation.findings import ShownFinding

# One part of a line of safe HTML: a tag, an entity or plain characters.
_PART = re.compile(r"<[^>]*>|&[^;]+;|[^<&]+")
_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_CONTEXT = 3
# Lines less similar than this are shown without word marks, which would only confuse the reader.
_ALIKE = 0.4


@dataclass(frozen=True)
class Row:
    """A row of the inline view: same, add, del or gap. The `html` of a gap gives the number of hidden lines."""

    kind: str
    html: SafeString
    old_number: int | None = None
    new_number: int | None = None
    remarks: Sequence[OnLine] = ()
    findings: Sequence[ShownFinding] = ()


@dataclass(frozen=True)
class SideRow:
    """A row of the side-by-side view: same, change, add, del or gap."""

    kind: str
    old_html: SafeString
    new_html: SafeString
    old_number: int | None = None
    new_number: int | None = None
    remarks: Sequence[OnLine] = ()
    findings: Sequence[ShownFinding] = ()


class Keep(NamedTuple):
    """Lines of the old and the new text that are never folded."""

    old: Collection[int] = ()
    new: Collection[int] = ()


NOTHING = Keep()
AnyRow = TypeVar("AnyRow", bound=Row | SideRow)


def with_remarks(
    rows: Sequence[AnyRow], of_old: Iterable[OnLine], of_new: Iterable[OnLine]
) -> list[AnyRow]:
    """Add the remarks about each line to its row. Remarks about the old text come first."""
    old, new = group_by_line(of_old), group_by_line(of_new)

    def said(row: AnyRow) -> tuple[OnLine, ...]:
        return (*old.get(row.old_number or 0, ()), *new.get(row.new_number or 0, ()))

    return [replace(row, remarks=said(row)) for row in rows]


def with_findings(
    rows: Sequence[AnyRow], of_old: Iterable[object], of_new: Iterable[object]
) -> list[AnyRow]:
    """Add findings to the rows: all findings of the new text, and the findings of removed or changed old lines."""
    last_old = max((row.old_number or 0 for row in rows), default=0)
    last_new = max((row.new_number or 0 for row in rows), default=0)
    old, new = findings_by_line(of_old, last_old), findings_by_line(of_new, last_new)

    def found(row: AnyRow) -> tuple[ShownFinding, ...]:
        gone = old.get(row.old_number or 0, ()) if row.kind in ("del", "change") else ()
        return (*gone, *new.get(row.new_number or 0, ()))

    return [replace(row, findings=found(row)) for row in rows]


class _Text(NamedTuple):
    """The lines of one side, as plain text for the comparison and as HTML."""

    lines: list[str]
    html: Sequence[SafeString]


def diff_side_by_side(
    old: str, new: str, *, keep: Keep = NOTHING, colours: bool = False
) -> list[SideRow]:
    """Pair the lines of two texts, and fold long unchanged sections into gaps.

    A section that contains a line of `keep` is not folded. `colours` adds syntax colors and marks hidden characters if
    both texts are Bash scripts.
    """
    before, after = _read(old, colours=colours), _read(new, colours=colours)
    rows: list[SideRow] = []
    matcher = difflib.SequenceMatcher(a=before.lines, b=after.lines, autojunk=False)
    groups = matcher.get_opcodes()
    for position, (tag, a, b, c, d) in enumerate(groups):
        if tag == "equal":
            first, last = position == 0, position == len(groups) - 1
            rows.extend(_equal(before, a, b, c, first=first, last=last, keep=keep))
        else:
            rows.extend(_changed(before, after, range(a, b), range(c, d)))
    return rows


def diff_inline(old: str, new: str, *, keep: Keep = NOTHING, colours: bool = False) -> list[Row]:
    """Compare two texts in one column. A changed section shows the removed lines first, then the added lines."""
    rows: list[Row] = []
    gone: list[Row] = []
    come: list[Row] = []
    for row in diff_side_by_side(old, new, keep=keep, colours=colours):
        if row.kind in ("same", "gap"):
            rows += gone + come
            gone, come = [], []
            rows.append(Row(row.kind, row.old_html, row.old_number, row.new_number))
            continue
        if row.old_number is not None:
            gone.append(Row("del", row.old_html, row.old_number, None))
        if row.new_number is not None:
            come.append(Row("add", row.new_html, None, row.new_number))
    return rows + gone + come


def _read(text: str, *, colours: bool) -> _Text:
    lines = text.removesuffix("\n").split("\n") if text else []
    html = coloured_lines(text) if colours else [SafeString(escape(line)) for line in lines]
    return _Text(lines, html)


def _equal(
    text: _Text, a: int, b: int, c: int, *, first: bool, last: bool, keep: Keep
) -> Iterator[SideRow]:
    before = 0 if first else _CONTEXT
    after = 0 if last else _CONTEXT
    hidden = (b - a) - before - after
    if any(a < line <= b for line in keep.old) or any(c < line <= c + b - a for line in keep.new):
        hidden = 0
    for offset in range(b - a):
        if hidden > 1 and before <= offset < b - a - after:
            if offset == before:
                gap = SafeString(f"{hidden} unchanged lines")
                yield SideRow("gap", gap, gap)
            continue
        html = text.html[a + offset]
        yield SideRow("same", html, html, a + offset + 1, c + offset + 1)


def _changed(before: _Text, after: _Text, gone: range, come: range) -> Iterator[SideRow]:
    empty = SafeString("")
    for i, k in zip_longest(gone, come):
        if i is not None and k is not None:
            old, new = _changed_words(before.lines[i], after.lines[k])
            old_html = _mark(before.html[i], old, "del")
            yield SideRow("change", old_html, _mark(after.html[k], new, "ins"), i + 1, k + 1)
        elif i is not None:
            yield SideRow("del", before.html[i], empty, i + 1, None)
        elif k is not None:
            yield SideRow("add", empty, after.html[k], None, k + 1)


_Span = tuple[int, int]


def _changed_words(old: str, new: str) -> tuple[list[_Span], list[_Span]]:
    """Return the spans of the changed words in each line, or no spans if the lines have little in common."""
    a, b = _WORD.findall(old), _WORD.findall(new)
    matcher = difflib.SequenceMatcher(a=a, b=b, autojunk=False)
    if len(a) + len(b) > 2_000 or matcher.ratio() < _ALIKE:
        return [], []
    begins_old, begins_new = (list(accumulate(map(len, words), initial=0)) for words in (a, b))
    differing = [codes for tag, *codes in matcher.get_opcodes() if tag != "equal"]
    return (
        [(begins_old[i], begins_old[j]) for i, j, _k, _m in differing if i < j],
        [(begins_new[k], begins_new[m]) for _i, _j, k, m in differing if k < m],
    )


def _mark(html: SafeString, spans: Sequence[_Span], tag: str) -> SafeString:
    """Mark these spans of the line's text. A mark that crosses a colored token is split at the tag."""
    if not spans:
        return html
    marked, at = [], 0
    for part in _PART.findall(html):
        if part.startswith("<"):
            marked.append(part)
            continue
        length = 1 if part.startswith("&") else len(part)
        done = 0
        for begin, end in spans:
            begin, end = max(begin - at, done), min(end - at, length)
            if begin < end:
                inside = part if length == 1 else part[begin:end]
                marked += [part[done:begin], f'<{tag} class="word">{inside}</{tag}>']
                done = end
        marked.append(part[done:] if done < length else "")
        at += length
    return SafeString("".join(marked))
