"""Parse a text that the grammar can't read as a whole, and report the lines that remain unread."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

from tree_sitter import Node

from catalog.analysis.shell.parsing import Attempt, Heredoc, TooComplex

MAXIMUM_GROUP = 200  # lines of one statement that contains an error
MAXIMUM_TRIES = 40  # possible ends of a statement, and lines to skip

_QUOTED = re.compile(rb"(?<=')[^'\n]*(?=')")
# Expansions with a name or an operand that the grammar may not support. They contain no commands.
_EXPANSION = re.compile(
    rb"\$\{(?:\w+|[@*?!-]|(?P<count>#)(?=[#%/]))(?:\[[^]\n]*\])?"
    rb"(?:##?|%%?|//?|\^\^?|,,?|:?[-=?+])(?P<operand>[^{}`$\n]+)\}"
)
_EXTENDED_PATTERN = re.compile(rb"(?<=[\w\s./-])[?*+@!]\([^()\s`$'\"]*\)")
_RESERVED = frozenset(
    rb"if then elif else fi for while until do done case esac in function".split()
)


@dataclass
class Text:
    """The parsed parts of a text: trees in order, and the byte ranges of unread lines."""

    source: bytes  # without the removed here-document bodies and unread lines
    roots: list[Node]
    heredocs: dict[int, Heredoc] = field(default_factory=dict)
    guesses: list[Node] = field(default_factory=list)  # trees of unread lines, including errors
    # Bodies of here-documents with expansions.
    bodies: dict[int, Node] = field(default_factory=dict)
    unread: list[tuple[int, int]] = field(default_factory=list)


def read_text(source: bytes) -> Text:
    """Parse the text as a whole or, if it has an error, in groups of lines. Raises TooComplex.

    No tree in `roots` has an error, except inside here-documents.
    """
    attempt = Attempt(source)
    root = attempt.parse()
    text = Text(source, [root], attempt.heredocs)
    for start, heredoc in attempt.heredocs.items():
        text.source = _blank(text.source, heredoc.start, heredoc.after)
        if not heredoc.is_quoted and (body := attempt.parse_body(heredoc)):
            text.bodies[start] = body
    if root.has_error:
        _Groups(attempt, text).read()
    for unread in text.unread:
        text.source = _blank(text.source, *unread)
        with suppress(TooComplex):
            text.guesses.append(attempt.guess(*unread))
    return text


def has_command_word(lines: bytes) -> bool:
    """Return whether unread lines contain a word that may be the name of a command."""
    code = re.sub(rb"^[ \t]*#[^\n]*", b"", lines, flags=re.MULTILINE)
    return any(word not in _RESERVED for word in re.findall(rb"[^\s;|&<>(){}\[\]!'\"\\]+", code))


class _Groups:
    """A parser for scripts with errors, which parses the smallest groups of lines without an error, from top to
    bottom.
    """

    def __init__(self, attempt: Attempt, text: Text) -> None:
        self.attempt = attempt
        self.text = text
        self.starts = [0, *(found.end() for found in re.finditer(rb"\n", attempt.source))]
        self.starts.append(len(attempt.source))

    def read(self) -> None:
        self.text.roots = []
        line, last = 0, len(self.starts) - 1
        try:
            while line < last:
                line = self._read_group(line, last)
        except TooComplex:
            self._leave_out(line, last)
        self._join()

    def _read_group(self, line: int, last: int) -> int:
        """Parse the statement that begins at a line, and return the line after the statement."""
        ends = list(islice(self._ends(line, last), MAXIMUM_TRIES))
        for end in ends:
            if self._accept(line, end):
                return end
        for end in ends:
            if self._accept_masked(line, end):
                return end
        # The last end is the best guess for the end of the statement. Try to skip one of its lines.
        for bad in range(line + 1, min(ends[-1] - 1, line + MAXIMUM_TRIES)):
            if self._accept(line, ends[-1], without=bad):
                return ends[-1]
        self._leave_out(line, line + 1)
        return line + 1

    def _ends(self, line: int, last: int) -> Iterator[int]:
        """Yield possible ends of the statement: after the first line, then after each line that is not indented further
        than the first line.
        """
        indent = self._indent(line)
        yield line + 1
        for end in range(line + 1, min(last, line + MAXIMUM_GROUP)):
            if self._line(end).strip() and self._indent(end) <= indent:
                yield end + 1
                if end > line + 1 and self._indent(end - 1) > indent and b"}" in self._line(end):
                    return

    def _line(self, line: int) -> bytes:
        return self.attempt.source[self.starts[line] : self.starts[line + 1]]

    def _indent(self, line: int) -> int:
        text = self._line(line)
        return len(text) - len(text.lstrip(b" \t"))

    def _accept(self, line: int, end: int, *, without: int | None = None) -> bool:
        source = self.attempt.source
        if without is not None:
            source = _blank(source, self.starts[without], self.starts[without + 1])
        root = self.attempt.parse_part(source, self.starts[line], self.starts[end])
        if root is None:
            return False
        self.text.roots.append(root)
        if without is not None:
            self._leave_out(without, without + 1)
        return True

    def _accept_masked(self, line: int, end: int) -> bool:
        start, after = self.starts[line], self.starts[end]
        source = bytearray(self.attempt.source)
        masks = [
            (*found.span(), kind)
            for kind, pattern in (("raw_string", _QUOTED), ("word", _EXTENDED_PATTERN))
            for found in pattern.finditer(self.attempt.source, start, after)
        ]
        for found in _EXPANSION.finditer(self.attempt.source, start, after):
            masks.append((*found.span("operand"), "expansion"))
            if found["count"]:
                source[found.start("count")] = ord("1")
        for first, last, _ in masks:
            source[first:last] = b"_" * (last - first)
        root = self.attempt.parse_part(bytes(source), start, after) if masks else None
        # If the quotes pair differently than assumed, a mask hides more than text.
        if root is None or not all(_is_inside(root, *mask) for mask in masks):
            return False
        self.attempt.source = bytes(source)
        self.text.roots.append(root)
        return True

    def _leave_out(self, line: int, end: int) -> None:
        start, after = self.starts[line], self.starts[end]
        if not self.attempt.source[start:after].strip():
            return
        if self.text.unread and not self.attempt.source[self.text.unread[-1][1] : start].strip():
            start = self.text.unread.pop()[0]
        self.text.unread.append((start, after))

    def _join(self) -> None:
        """Replace unread lines with blanks, and use one tree for the rest of the text if it can be parsed."""
        for start, end in self.text.unread:
            self.attempt.source = _blank(self.attempt.source, start, end)
        try:
            root = self.attempt.parse_part(self.attempt.source, 0, len(self.attempt.source))
        except TooComplex:
            return
        if root is not None:
            self.text.roots = [root]


def _is_inside(root: Node, start: int, end: int, kind: str) -> bool:
    node = root.descendant_for_byte_range(start, end)
    while node is not None and node.type != kind and node.end_byte <= end + 1:
        node = node.parent
    if node is None or node.type != kind:
        return False
    return kind != "word" or bool(node.parent and node.parent.type != "command_name")


def _blank(source: bytes, start: int, end: int) -> bytes:
    return source[:start] + re.sub(rb"[^\n]", b" ", source[start:end]) + source[end:]
