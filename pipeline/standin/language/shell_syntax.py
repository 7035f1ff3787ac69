"""Parse scripts with tree-sitter, unquote their words and edit them safely."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import tree_sitter_bash
from tree_sitter import Language, Node, Parser

_PARSER = Parser(Language(tree_sitter_bash.language()))
# Words that need no quotes. A leading tilde or variable should be expanded.
_BARE = re.compile(r"(?:~|\$[A-Z_][A-Z0-9_]*)?[\w./@%+,:=-]*")
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


class Edit(NamedTuple):
    """A replacement of the characters from `start` to `end` with `text`. If `raw`, the text is unquoted code."""

    start: int
    end: int
    text: str
    raw: bool = False


def parse(script: str) -> Node:
    """Return the root of the script's syntax tree. Broken parts are ERROR nodes."""
    return _PARSER.parse(script.encode()).root_node


def is_broken(script: str) -> bool:
    """Return whether the script has a syntax error or an unclosed part."""
    return parse(script).has_error


def source(node: Node) -> str:
    """Return the text of a node as written."""
    return (node.text or b"").decode(errors="replace")


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and all its descendants, in order."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.children))


def read_word(node: Node, known: Mapping[str, str]) -> str:
    """Return a word without its quotes, and with `known` values in place of variables."""
    if node.type == "raw_string":
        return source(node)[1:-1]
    if node.type == "ansi_c_string":
        return source(node)[2:-1]
    if node.type in ("word", "extglob_pattern", "regex", "test_operator"):
        return _ESCAPED.sub(r"\1", source(node))
    if node.type == "string_content":
        return re.sub(r'\\([$`"\\])', r"\1", source(node))
    if node.type in ("string", "translated_string", "concatenation", "command_name"):
        return _read_parts(node, known)
    if node.type == "array":
        return " ".join(read_word(child, known) for child in node.named_children)
    if node.type in ("simple_expansion", "expansion"):
        return _expand(node, known)
    return source(node)


def _read_parts(node: Node, known: Mapping[str, str]) -> str:
    """Return the parts of a word, including the blanks between them, which have no syntax nodes."""
    pieces: list[str] = []
    at = node.start_byte
    text = node.text or b""
    for child in node.children:
        pieces.append(
            text[at - node.start_byte : child.start_byte - node.start_byte].decode(errors="replace")
        )
        if child.type not in ('"', '$"'):
            pieces.append(read_word(child, known))
        at = child.end_byte
    return "".join(pieces)


def _expand(node: Node, known: Mapping[str, str]) -> str:
    names = [part for part in walk(node) if part.type in ("variable_name", "special_variable_name")]
    if not names:
        return source(node)
    name = source(names[0])
    if re.fullmatch(rf"\$\{{?{re.escape(name)}(?:\[[@*]\])?\}}?", source(node)):
        return known.get(name, f"${name}")
    default = re.fullmatch(rf"\$\{{{re.escape(name)}:?[-=](.*)\}}", source(node), re.DOTALL)
    if default:
        return known.get(name, default[1].strip("\"'"))
    if re.match(rf"\$\{{{re.escape(name)}:?\?", source(node)):
        return known.get(name, f"${name}")
    return source(node)


def insert_at(script: str, edits: Iterable[Edit]) -> str:
    """Apply edits to `script`, with each text quoted for its position. The first of overlapping edits wins."""
    root = parse(script)
    done: list[Edit] = []
    for edit in edits:
        if all(edit.end <= other.start or other.end <= edit.start for other in done):
            done.append(edit)
    for edit in sorted(done, reverse=True):
        text = edit.text if edit.raw else quote_for(edit.text, _context(root, script, edit.start))
        script = script[: edit.start] + text + script[edit.end :]
    return script


def quote_for(text: str, context: str) -> str:
    """Quote `text` for a position in single quotes, in double quotes or without quotes."""
    if context == "single":
        return text.replace("'", "'\\''")
    if context == "double":
        variable = re.match(r"(?:~(?=/|$)|\$[A-Z_][A-Z0-9_]*)(?=/|$)", text)
        kept = variable[0].replace("~", "$HOME") if variable else ""
        return kept + re.sub(r'([\\"$`])', r"\\\1", text[variable.end() if variable else 0 :])
    return text if _BARE.fullmatch(text) else shlex.quote(text)


def _context(root: Node, script: str, at: int) -> str:
    """Return how the text at a position is quoted."""
    offset = len(script[:at].encode())
    node = root.descendant_for_byte_range(offset, offset + 1)
    while node is not None:
        if node.type == "raw_string":
            return "single"
        if node.type in ("string", "heredoc_body"):
            return "double"
        if node.type in ("command_substitution", "process_substitution"):
            break
        node = node.parent
    return "bare"
