"""A script as lines of safe HTML: syntax colours, hidden characters marked, findings at their lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import BashLexer

from catalog.analysis import find_odd_characters

_LEVELS = {"error": 0, "warning": 1, "info": 2, "style": 3}
# Beyond this a script is shown without colours: the lexer would keep the reader waiting.
_MOST_COLOURED = 200_000
_TAG = re.compile(r"(<[^>]*>)")


@dataclass(frozen=True)
class ShownFinding:
    level: str
    code: str
    message: str


@dataclass(frozen=True)
class Line:
    number: int
    html: SafeString
    findings: Sequence[ShownFinding] = field(default_factory=tuple)


def show_lines(script: str, findings: Iterable[object] = ()) -> list[Line]:
    """The script's lines with what was found at each, gravest first; findings without a line stand at the first."""
    by_line: dict[int, list[ShownFinding]] = {}
    htmls = coloured_lines(script)
    for finding in findings:
        shown, line = _read_finding(finding)
        by_line.setdefault(min(line or 1, len(htmls)), []).append(shown)
    for found in by_line.values():
        found.sort(key=lambda one: _LEVELS.get(one.level, 9))
    return [
        Line(number, html, tuple(by_line.get(number, ()))) for number, html in enumerate(htmls, start=1)
    ]


@lru_cache(maxsize=512)
def coloured_lines(script: str) -> list[SafeString]:
    """One piece of safe HTML for each line, without line ends; the text itself is exactly the script's."""
    text = script[:-1] if script.endswith("\n") else script
    if len(text) > _MOST_COLOURED:
        return [format_html("{}", line) for line in text.split("\n")]
    # The formatter must not strip or add anything: line numbers would shift.
    lexer = BashLexer(stripnl=False, ensurenl=False, stripall=False)
    html = highlight(text.replace("\r\n", "\n").replace("\r", "␍"), lexer, HtmlFormatter(nowrap=True))
    lines = html.removesuffix("\n").split("\n") if html else [""]
    names = {found.character: found for found in find_odd_characters(script)}
    if names:
        lines = [_mark_odd(line, names) for line in lines]
    return [mark_safe(line) for line in lines]  # noqa: S308 - Pygments escapes the text


def _mark_odd(line: str, odd: Mapping[str, object]) -> str:
    """Make hidden and look-alike characters visible in the text between tags."""
    pattern = re.compile("[" + re.escape("".join(odd)) + "]")

    def mark(match: re.Match[str]) -> str:
        found = odd[match[0]]
        return format_html(
            '<mark class="odd" data-code="U+{}" title="{}">{}</mark>',
            f"{ord(match[0]):04X}",
            getattr(found, "name", ""),
            match[0],
        )

    return "".join(part if part.startswith("<") else pattern.sub(mark, part) for part in _TAG.split(line))


def _read_finding(finding: object) -> tuple[ShownFinding, int | None]:
    """A finding of the analysis, a stored row of it, or its JSON in a Version: all have these fields."""
    if isinstance(finding, Mapping):
        get = finding.get
    else:

        def get(name: str, default: object = None) -> object:
            return getattr(finding, name, default)

    line = get("line")
    return (
        ShownFinding(str(get("level") or "info"), str(get("code") or ""), str(get("message") or "")),
        line if isinstance(line, int) else None,
    )
