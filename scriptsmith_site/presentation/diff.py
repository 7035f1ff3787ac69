"""Two texts compared by line, and inside changed lines by word, as rows for the diff component."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeVar

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from scriptsmith_site.presentation.code import OnLine, group_by_line

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_CONTEXT = 3
# Below this likeness two lines are shown as one gone and one come, for word marks would only confuse.
_ALIKE = 0.4


@dataclass(frozen=True)
class Row:
    """One row of the inline view: same, add, del, or gap (then `html` counts the equal lines left out)."""

    kind: str
    html: SafeString
    old_number: int | None = None
    new_number: int | None = None
    remarks: Sequence[OnLine] = ()


@dataclass(frozen=True)
class SideRow:
    """One row of the view side by side: same, change, add, del or gap."""

    kind: str
    old_html: SafeString
    new_html: SafeString
    old_number: int | None = None
    new_number: int | None = None
    remarks: Sequence[OnLine] = ()


class Keep(NamedTuple):
    """Lines of the old and of the new text that are never folded away."""

    old: Collection[int] = ()
    new: Collection[int] = ()


NOTHING = Keep()
AnyRow = TypeVar("AnyRow", bound=Row | SideRow)


def with_remarks(
    rows: Sequence[AnyRow], of_old: Iterable[OnLine], of_new: Iterable[OnLine]
) -> list[AnyRow]:
    """The rows with what people say of their lines, of the old text first."""
    old, new = group_by_line(of_old), group_by_line(of_new)

    def said(row: AnyRow) -> tuple[OnLine, ...]:
        return (*old.get(row.old_number or 0, ()), *new.get(row.new_number or 0, ()))

    return [replace(row, remarks=said(row)) for row in rows]


def diff_side_by_side(old: str, new: str, *, keep: Keep = NOTHING) -> list[SideRow]:
    """Pair the lines of two texts; long equal stretches become one gap, but not one with a line to `keep`."""
    old_lines, new_lines = _lines(old), _lines(new)
    rows: list[SideRow] = []
    matcher = difflib.SequenceMatcher(a=old_lines, b=new_lines, autojunk=False)
    groups = matcher.get_opcodes()
    for position, (tag, a, b, c, d) in enumerate(groups):
        if tag == "equal":
            first, last = position == 0, position == len(groups) - 1
            rows.extend(_equal(old_lines, a, b, c, first=first, last=last, keep=keep))
        else:
            rows.extend(_changed(old_lines[a:b], new_lines[c:d], a, c))
    return rows


def diff_inline(old: str, new: str, *, keep: Keep = NOTHING) -> list[Row]:
    """The same comparison in one column: of a changed stretch, first what went, then what came."""
    rows: list[Row] = []
    gone: list[Row] = []
    come: list[Row] = []
    for row in diff_side_by_side(old, new, keep=keep):
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


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _equal(
    lines: list[str], a: int, b: int, c: int, *, first: bool, last: bool, keep: Keep
) -> Iterator[SideRow]:
    before = 0 if first else _CONTEXT
    after = 0 if last else _CONTEXT
    hidden = (b - a) - before - after
    if any(a < line <= b for line in keep.old) or any(c < line <= c + b - a for line in keep.new):
        hidden = 0
    for offset in range(b - a):
        if hidden > 1 and before <= offset < b - a - after:
            if offset == before:
                text = mark_safe(f"{hidden} equal lines")  # noqa: S308 - a number
                yield SideRow("gap", text, text)
            continue
        html = mark_safe(escape(lines[a + offset]))  # noqa: S308
        yield SideRow("same", html, html, a + offset + 1, c + offset + 1)


def _changed(old: list[str], new: list[str], a: int, c: int) -> Iterator[SideRow]:
    empty = SafeString("")
    for offset in range(max(len(old), len(new))):
        before = old[offset] if offset < len(old) else None
        after = new[offset] if offset < len(new) else None
        if before is not None and after is not None:
            old_html, new_html = _mark_words(before, after)
            yield SideRow("change", old_html, new_html, a + offset + 1, c + offset + 1)
        elif before is not None:
            yield SideRow("del", mark_safe(escape(before)), empty, a + offset + 1, None)  # noqa: S308
        elif after is not None:
            yield SideRow("add", empty, mark_safe(escape(after)), None, c + offset + 1)  # noqa: S308


def _mark_words(old: str, new: str) -> tuple[SafeString, SafeString]:
    a, b = _WORD.findall(old), _WORD.findall(new)
    matcher = difflib.SequenceMatcher(a=a, b=b, autojunk=False)
    if len(a) + len(b) > 2_000 or matcher.ratio() < _ALIKE:
        return mark_safe(escape(old)), mark_safe(escape(new))  # noqa: S308
    left, right = [], []
    for tag, i, j, k, m in matcher.get_opcodes():
        gone, come = escape("".join(a[i:j])), escape("".join(b[k:m]))
        left.append(gone if tag == "equal" or not gone else f'<del class="word">{gone}</del>')
        right.append(come if tag == "equal" or not come else f'<ins class="word">{come}</ins>')
    return mark_safe("".join(left)), mark_safe("".join(right))  # noqa: S308 - every part is escaped
