"""The syntax tree of a piece of Bash, in bounded time, with the grammar's slips put right."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import tree_sitter_bash
from tree_sitter import Language, Node, Parser, Point

# Of the processor, for all attempts together: how busy the machine is changes no verdict.
PARSE_SECONDS = 1.5
MAXIMUM_NODES = 150_000  # beyond it, walking the tree in Python would take seconds
MAXIMUM_REPAIRS = 30
_CHUNK = 65_536  # bytes; after each the parser can be stopped

_BASH = Language(tree_sitter_bash.language())
# What ends with its line, if no operator or backslash stands before the line end.
_ONE_LINERS = frozenset({"command", "declaration_command", "unset_command", "file_redirect"})
_LINE_END = re.compile(rb"(?<!\\)(?:\\\\)*(\n)")

# The grammar's scanner looks letters up in a table that ends with ASCII; others may crash it. To
# Bash they are letters of a word, but not of a name, as full stops are. No offset changes.
_ASCII = bytes(range(128)) + b"." * 128
_FOREIGN_MARKER = re.compile(rb"(?<!<)<<-?[ \t]*[^\s;|&<>()]*[\x80-\xff]")


class TooComplex(Exception):
    """The text takes too long to parse or makes too large a tree to be walked."""


def parse(source: bytes, *, seconds: float = PARSE_SECONDS) -> Node:
    """The root of the text's syntax tree; raises TooComplex instead of taking long.

    Text that is not valid Bash has a tree too, with `has_error` set. The node's own `text` is not
    available: read the source by its offsets.
    """
    if _FOREIGN_MARKER.search(source):
        raise TooComplex("the end of a heredoc in it is not marked with plain letters")
    source = source.translate(_ASCII)
    deadline = time.thread_time() + seconds
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
