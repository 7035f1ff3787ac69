"""The syntax tree of a piece of Bash, in bounded time, with the grammar's slips put right."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import tree_sitter_bash
from tree_sitter import Language, Node, Parser, Point

# CPU seconds for all attempts together, so that the load of the machine changes no verdict.
PARSE_SECONDS = 1.0
# After an error in a pipeline, the parser takes time quadratic in its length. Meanwhile it cannot
# be stopped and no other thread runs: 1,500 members take 0.1 s, 50,000 take minutes.
MAXIMUM_PIPES = 1_500
MAXIMUM_NODES = 100_000  # beyond it, walking the tree in Python would take seconds
MAXIMUM_REPAIRS = 30
_CHUNK = 1_024  # bytes; after each, other threads can run

_BASH = Language(tree_sitter_bash.language())
# What ends with its line, if no operator or backslash stands before the line end.
_ONE_LINERS = frozenset({"command", "declaration_command", "unset_command", "file_redirect"})
_LINE_END = re.compile(rb"(?<!\\)(?:\\\\)*(\n)")

# The grammar's scanner looks letters up in a table that ends with ASCII; others may crash it. To
# Bash they are letters of a word, but not of a name, as full stops are. No offset changes.
_ASCII = bytes(range(128)) + b"." * 128
_PIPES = re.compile(rb"(?<!\|)\|(?:\|\|)*+(?!\|)")
_FOREIGN_MARKER = re.compile(rb"(?<!<)<<-?[ \t]*[^\s;|&<>()]*[\x80-\xff]")


_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


class TooComplex(Exception):
    """The text takes too long to parse or makes too large a tree to be walked."""


@contextmanager
def shared_time(seconds: float = PARSE_SECONDS) -> Iterator[None]:
    """Let all parses in this context share this many CPU seconds of the thread."""
    token = _deadline.set(time.thread_time() + seconds)
    try:
        yield
    finally:
        _deadline.reset(token)


def parse(source: bytes) -> Node:
    """Return the root of the text's syntax tree; raise TooComplex instead of taking long.

    Text that is not valid Bash has a tree too, with `has_error` set. The node's own `text` is not
    available: read the source by its offsets.
    """
    if _FOREIGN_MARKER.search(source):
        raise TooComplex("the end of a heredoc in it is not marked with plain letters")
    if len(_PIPES.findall(source)) > MAXIMUM_PIPES:
        raise TooComplex(f"it has more than {MAXIMUM_PIPES:,} pipes")
    source = source.translate(_ASCII)
    deadline = _deadline.get() or time.thread_time() + PARSE_SECONDS
    for _ in range(MAXIMUM_REPAIRS):
        root = _parse_once(source, deadline)
        corrected = bytearray(source)
        for start, text in _slips(root, source):
            corrected[start : start + len(text)] = text
        if corrected == source:
            return root
        source = bytes(corrected)
    raise TooComplex("its lines can't be told apart")


def _parse_once(source: bytes, deadline: float) -> Node:
    def read(offset: int, _: Point) -> bytes:
        return source[offset : offset + _CHUNK]

    def is_late(_: int, __: bool) -> bool:
        return time.thread_time() > deadline

    try:
        # A Parser may not be shared between threads, and costs next to nothing to make.
        root = Parser(_BASH).parse(read, progress_callback=is_late).root_node
    except ValueError as error:  # what tree-sitter raises when it was stopped
        raise TooComplex("it takes too long to parse") from error
    if root.descendant_count > MAXIMUM_NODES:
        raise TooComplex("it is too long")
    return root


def _slips(root: Node, source: bytes) -> Iterator[tuple[int, bytes]]:
    """Where the grammar goes wrong, and what to write there so that it does not.

    It takes a line end for a blank after some pipelines and before a backslash, and then counts the
    next line's words to the command. And it does not know `<>`. No offset changes.
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
                if child.is_error and source[child.start_byte : child.end_byte + 1] == b"<>":
                    yield child.start_byte, b">"


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
