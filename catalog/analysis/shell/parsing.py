"""Parse Bash in bounded time, with corrections for errors in the grammar."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple

import tree_sitter_bash
from tree_sitter import Language, Node, Parser, Point, Range

# CPU seconds for all attempts together, so that results don't depend on the machine's load.
PARSE_SECONDS = 0.8
# After an error in a pipeline, the parser takes time quadratic in its length. Parsing can't be stopped and blocks other
# threads. A pipeline of 1,500 commands takes 0.1 s, and one of 50,000 takes minutes.
MAXIMUM_PIPES = 1_500
MAXIMUM_NODES = 60_000  # walking a larger tree in Python would take seconds
MAXIMUM_REPAIRS = 30
MAXIMUM_PARTS = 3_000  # parsed one by one if a text has errors
_CHUNK = 1_024  # bytes; other threads can run between chunks

_BASH = Language(tree_sitter_bash.language())
# Nodes that end at the end of their line, unless an operator or a backslash precedes the line end.
_ONE_LINERS = frozenset({"command", "declaration_command", "unset_command", "file_redirect"})
_LINE_END = re.compile(rb"(?<!\\)(?:\\\\)*(\n)")

# The grammar's scanner looks up characters in an ASCII table, and other characters may crash it. In
# Bash, such characters can be in a word but not in a name, like periods. Offsets don't change.
_ASCII = bytes(range(128)) + b"." * 128
_HEREDOC = re.compile(
    rb"(?<!<)<<(?P<tabs>-?)[ \t]*"
    rb"(?P<marker>(?:\\.|'[^'\n]*'|\"[^\"\n]*\"|[^\s;|&<>()'\"\\])++)(?=[ \t]*+(?P<rest>\S)?(?P<slash>\n[ \t]*+\\)?)"
)
_PIPES = re.compile(rb"(?<!\|)\|(?:\|\|)*+(?!\|)")
_FOREIGN_MARKER = re.compile(rb"(?<!<)<<-?[ \t]*[^\s;|&<>()]*[\x80-\xff]")


_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


class TooComplex(Exception):
    """The text takes too long to parse, or its tree is too large to walk."""


@contextmanager
def shared_time(seconds: float = PARSE_SECONDS) -> Iterator[None]:
    """Limit all parses in this context together to this many CPU seconds of the thread."""
    token = _deadline.set(time.thread_time() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def parse(source: bytes) -> Node:
    """Return the root of the text's syntax tree. Raises TooComplex if parsing takes too long.

    Invalid Bash also has a tree, with `has_error` set. The node's own `text` is not available, so use the source and
    the node's offsets.
    """
    return Attempt(source).parse()


class Heredoc(NamedTuple):
    """A here-document removed from the text. The tree contains `<___` without a body instead."""

    start: int  # the start of the body
    end: int
    after: int  # the offset after the end marker's line
    is_quoted: bool
    header: bytes  # the start of an ordinary here-document with this body


class Attempt:
    """The parsing of one text, with all corrections so far. Corrections never change offsets."""

    def __init__(self, source: bytes) -> None:
        if _FOREIGN_MARKER.search(source):
            raise TooComplex("a here-document in it ends with an unusual delimiter")
        if len(_PIPES.findall(source)) > MAXIMUM_PIPES:
            raise TooComplex(f"it has more than {MAXIMUM_PIPES:,} pipes")
        self.original = source = source.translate(_ASCII)
        self.source = source
        self.heredocs: dict[int, Heredoc] = {}
        self._bodies: dict[int, int] = {}  # start of each body, and start of the line after it
        self.deadline = _deadline.get() or time.thread_time() + PARSE_SECONDS
        self.parts = 0

    def parse(self) -> Node:
        """Return the root of the whole text's tree."""
        for _ in range(MAXIMUM_REPAIRS):
            root = _parse_once(self.source, self.deadline)
            corrected = bytearray(self.source)
            for start, text in (*_slips(root, self.source), *self._heredocs(root)):
                corrected[start : start + len(text)] = text
            if corrected == self.source:
                return root
            self.source = bytes(corrected)
        raise TooComplex("its lines can't be separated")

    def parse_part(self, source: bytes, start: int, end: int) -> Node | None:
        """Return the tree of these bytes of the source, or None if it has an error."""
        self.parts += 1
        if self.parts > MAXIMUM_PARTS:
            raise TooComplex("it has too many errors")
        for _ in range(MAXIMUM_REPAIRS):
            root = _parse_once(source, self.deadline, (start, end))
            corrected = bytearray(source)
            for at, text in _slips(root, source):
                corrected[at : at + len(text)] = text
            if corrected == source:
                return None if root.has_error else root
            source = bytes(corrected)
        return None

    def guess(self, start: int, end: int) -> Node:
        """Return the tree of these bytes of the text, including errors."""
        return _parse_once(self.original, self.deadline, (start, end))

    def parse_body(self, heredoc: Heredoc) -> Node | None:
        """Return the tree of the body, with offsets in the source."""
        header = heredoc.header[-heredoc.start :]
        text = b" " * (heredoc.start - len(header)) + header
        # The grammar skips a backslash after a line end.
        body = re.sub(rb"\A([ \t]*)\\[^\n]", rb"\1__", self.original[heredoc.start : heredoc.after])
        text += body
        waiting = [_parse_once(text, self.deadline)]
        while waiting:
            node = waiting.pop()
            if node.type == "heredoc_body":
                return node
            waiting += node.children
        return None

    def _heredocs(self, root: Node) -> Iterator[tuple[int, bytes]]:
        """Yield the edits that remove here-documents with text after their marker, or all here-documents if the tree
        has an error.

        The grammar includes the text after a marker in the marker, or rejects it. The grammar also parses a body that
        begins with a backslash as further arguments.
        """
        position = 0
        missing = set()
        for found in _HEREDOC.finditer(self.source):
            if time.thread_time() > self.deadline:
                raise TooComplex("it takes too long to parse")
            token = root.descendant_for_byte_range(found.start(), found.start() + 2)
            if (
                found.start() < position
                or not (found["rest"] or found["slash"] or root.has_error)
                or token is None
                or token.type not in (("<<", "<<-", "<") if root.has_error else ("<<", "<<-"))
                or (token.parent and token.parent.type == "binary_expression")
            ):
                continue
            line_end = _LINE_END.search(self.source, found.end("marker"))
            start = line_end.end() if line_end else len(self.source)
            while earlier := self._bodies.get(start):
                start = earlier
            marker = re.sub(rb"\\(.)|['\"]", rb"\1", found["marker"])
            tabs = rb"\t*" if found["tabs"] else b""
            end_line = re.compile(rb"^" + tabs + re.escape(marker) + rb"(?:\n|\Z)", re.MULTILINE)
            end = None if end_line.pattern in missing else end_line.search(self.original, start)
            if end is None:
                missing.add(end_line.pattern)
                continue
            self.heredocs[found.start()] = Heredoc(
                start,
                end.start(),
                end.end(),
                marker != found["marker"],
                b":<<" + found["tabs"] + marker + b"\n",
            )
            self._bodies[start] = position = end.end()
            yield found.start(), b"<" + b"_" * (found.end("marker") - found.start() - 1)
            yield start, re.sub(rb"[^\n]", b" ", self.source[start : end.end()])


def _parse_once(source: bytes, deadline: float, part: tuple[int, int] | None = None) -> Node:
    def read(offset: int, _: Point) -> bytes:
        return source[offset : offset + _CHUNK]

    def is_late(_: int, __: bool) -> bool:
        return time.thread_time() > deadline

    if time.thread_time() > deadline:
        raise TooComplex("it takes too long to parse")
    # A Parser must not be shared between threads, and creating one is cheap.
    parser = Parser(_BASH)
    if part:
        parser.included_ranges = [Range(Point(1, 0), Point(2**31, 0), *part)]
    try:
        root = parser.parse(read, progress_callback=is_late).root_node
    except ValueError as error:  # raised by tree-sitter when it is stopped
        raise TooComplex("it takes too long to parse") from error
    if root.descendant_count > MAXIMUM_NODES:
        raise TooComplex("it is too long")
    return root


def _slips(root: Node, source: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the offsets of text that the grammar parses incorrectly, each with a replacement that avoids the error.

    After some pipelines and before a backslash, the grammar treats a line end as a blank and adds the next line's words
    to the command. The grammar also does not support `<>`. Offsets never change.
    """
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.start_point.row == node.end_point.row and not node.has_error:
            continue
        waiting += node.children
        if node.type in _ONE_LINERS:
            yield from _line_ends_between(node, source)
        if node.type == "file_redirect":
            for child in node.children:
                # The error node is on one of the two characters.
                first = source.find(b"<>", max(0, child.start_byte - 1), child.end_byte + 1)
                if child.is_error and first != -1:
                    yield first, b">"


def _line_ends_between(statement: Node, source: bytes) -> Iterator[tuple[int, bytes]]:
    position = statement.start_byte
    comment: Node | None = None
    for child in statement.children:
        # The line end may also be the first letter of a word.
        if found := _LINE_END.search(source, position, child.start_byte + 1):
            start = comment.start_byte if comment else found.start(1)
            yield start, b" " * (found.start(1) - start) + b";"
        position = child.end_byte
        comment = child if child.type == "comment" else None
