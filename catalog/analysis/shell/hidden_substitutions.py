"""Find substitutions that the grammar parses as plain text, so that the commands in them are analyzed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tree_sitter import Node

# An escaped character, or the start of a substitution.
_MARK = re.compile(rb"\\.|`|\$\(|[<>]\(", re.DOTALL)
_BETWEEN_BACKQUOTES = re.compile(rb"((?:[^\\`]|\\.)*+)`", re.DOTALL)
_PARENTHESIS = re.compile(rb"\\.|[()]", re.DOTALL)
_ESCAPED = re.compile(rb"\\([$`\\])")
# Quotes prevent the expansion, but if the text is then used as a variable name or as a
# number (`test -v`, `$((x))`), the shell evaluates the subscript and runs the commands in it.
_SUBSCRIPT = re.compile(rb"\w\[[^]\n]{0,80}?\\?(?=`|\$\()")

_QUOTED = frozenset({"raw_string", "ansi_c_string"})
_EXPANDED = frozenset({"string", "word"})


class Hidden(NamedTuple):
    """The source of a substitution, and its byte range with delimiters."""

    source: bytes
    start: int
    end: int


def find_hidden(roots: Iterable[Node], source: bytes) -> Iterator[Hidden]:
    """Yield the substitutions that have no node of their own, each once, from left to right.

    An unterminated substitution extends to the end of the source.
    """
    marks = [found.start() for found in _MARK.finditer(source) if found[0][:1] != b"\\"]
    position = 0
    search = _Search(source, marks)
    for offset in sorted({offset for root in roots for offset in search.unexplained(root)}):
        if offset < position:
            continue
        hidden = _read_backquoted(source, offset) or _read_parenthesised(source, offset)
        position = hidden.end
        yield hidden


def unescape_backquoted(source: bytes) -> bytes:
    """Return the text between two backquotes as the shell reads it."""
    return _ESCAPED.sub(rb"\1", source)


def _read_backquoted(source: bytes, offset: int) -> Hidden | None:
    if source[offset : offset + 1] != b"`":
        return None
    found = _BETWEEN_BACKQUOTES.match(source, offset + 1)
    if found is None:
        return Hidden(source[offset + 1 :], offset, len(source))
    return Hidden(unescape_backquoted(found[1]), offset, found.end())


def _read_parenthesised(source: bytes, offset: int) -> Hidden:
    depth = 0
    for found in _PARENTHESIS.finditer(source, offset + 1):
        depth += {b"(": 1, b")": -1}.get(found[0], 0)
        if depth == 0:
            return Hidden(source[offset + 2 : found.start()], offset, found.end())
    return Hidden(source[offset + 2 :], offset, len(source))


class _Search:
    """A comparison of a source's marks with its syntax tree. Only nodes with marks are visited."""

    def __init__(self, source: bytes, marks: list[int]) -> None:
        self.source = source
        self.marks = marks
        self.subscripts = [found.end() for found in _SUBSCRIPT.finditer(source)]

    def unexplained(self, root: Node) -> Iterator[int]:
        """Yield the marks that the shell would expand but that are not substitutions in the tree."""
        waiting = [(root, b"", False)]
        while waiting:
            node, heredoc, in_expansion = waiting.pop()
            start, end = node.start_byte, node.end_byte
            yield from self._subscripts(node)
            first = bisect_left(self.marks, start)
            if first == len(self.marks) or self.marks[first] >= end:
                continue
            # Within "${...}", single quotes may have no effect.
            is_quoted = node.type in _QUOTED and not in_expansion
            if is_quoted or node.type == "comment":
                continue
            if node.type == "heredoc_body" and re.search(rb"['\"\\]", heredoc):
                continue
            if node.type == "expansion":
                in_expansion = True
            elif node.type in ("command_substitution", "process_substitution"):
                in_expansion = False
            if node.child_count:
                for child in node.children:
                    if child.type == "heredoc_start":
                        heredoc = self.source[child.start_byte : child.end_byte]
                    yield from self._live(start, child.start_byte, in_expansion)
                    start = child.end_byte
                    waiting.append((child, heredoc, in_expansion))
            elif not node.is_named and not self.source[start : self.marks[first]].strip():
                continue  # in quotes, the tree includes a blank before the mark
            yield from self._live(start, end, in_expansion)

    def _subscripts(self, node: Node) -> Iterator[int]:
        for offset in _between(self.subscripts, node.start_byte, node.end_byte):
            is_escaped = self.source[offset - 1 : offset] == b"\\" and node.type in _EXPANDED
            if is_escaped or node.type in _QUOTED:
                yield offset

    def _live(self, start: int, end: int, in_expansion: bool) -> Iterator[int]:
        for offset in _between(self.marks, start, end):
            # In double quotes and arithmetic, `<(` is not a substitution.
            if in_expansion or self.source[offset : offset + 1] not in (b"<", b">"):
                yield offset


def _between(offsets: list[int], start: int, end: int) -> list[int]:
    return offsets[bisect_left(offsets, start) : bisect_left(offsets, end)] if start < end else []
