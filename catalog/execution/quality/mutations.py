"""Create mutants of a script, each with one small error that good tests should catch.

Mutations change nodes of the syntax tree, so `>` in a string stays unchanged. Some mutations have no effect, such as
replacing `-name` with `-path` if the pattern matches in both cases. Tests can't catch these, so the missed mutations
are listed.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from tree_sitter import Node

from catalog.analysis.shell.parsing import TooComplex, parse
from catalog.execution.cases.display import show_name

MOST_MUTANTS = 24

_SWAPS = {
    "-name": ("-path", "-iname"),
    "-iname": ("-name",),
    "-path": ("-name",),
    "-mtime": ("-mmin", "-atime"),
    "-atime": ("-mtime",),
    "-mmin": ("-mtime", "-amin"),
    "-amin": ("-mmin",),
    "-gt": ("-ge",),
    "-ge": ("-gt",),
    "-lt": ("-le",),
    "-le": ("-lt",),
    "-eq": ("-ne",),
    "-ne": ("-eq",),
    "==": ("!=",),
    "!=": ("==",),
    "-z": ("-n",),
    "-f": ("-e",),
    "-d": ("-e",),
    "restart": ("stop", "reload"),
    "reload": ("restart",),
    "start": ("stop",),
    "stop": ("start",),
    "enable": ("disable",),
    "head": ("tail",),
    "tail": ("head",),
}
_OPERATORS = {"&&": (";", "||"), "||": (";", "&&"), ">": (">>",), ">>": (">",)}
_NUMBER = re.compile(r"([+-]?)([0-9]{1,9})([A-Za-z%]?)")
# The parent nodes in which a command is a separate statement and can be removed.
_LISTS = ("program", "list", "compound_statement", "do_group", "if_statement", "else_clause", "elif_clause", "case_item", "subshell")  # fmt: skip  # noqa: E501


class Mutant(NamedTuple):
    """A script with one planted error, and a description of the error."""

    script: str
    words: str


class _Edit(NamedTuple):
    kind: str
    start: int  # byte offsets
    end: int
    text: bytes
    words: str


def make_mutants(script: str, most: int = MOST_MUTANTS) -> tuple[Mutant, ...]:
    """Return at most `most` mutants, alternating between kinds. The result is deterministic, and empty if the script
    can't be parsed.
    """
    source = script.encode("utf-8", "surrogatepass")
    try:
        root = parse(source)
    except TooComplex:
        return ()
    by_kind: dict[str, list[_Edit]] = defaultdict(list)
    for edit in _find_edits(root, source):
        by_kind[edit.kind].append(edit)
    mutants: dict[str, Mutant] = {}
    for edit in _in_turns(list(by_kind.values())):
        if len(mutants) >= most:
            break
        changed = source[: edit.start] + edit.text + source[edit.end :]
        mutated = changed.decode("utf-8", "surrogatepass")
        if mutated != script and not _breaks(changed, root):
            mutants.setdefault(mutated, Mutant(mutated, edit.words))
    return tuple(mutants.values())


def _in_turns(lists: list[list[_Edit]]) -> Iterator[_Edit]:
    """Yield the first edit of each kind, then the second of each kind, and so on."""
    for position in range(max(map(len, lists), default=0)):
        for edits in lists:
            if position < len(edits):
                yield edits[position]


def _breaks(changed: bytes, root: Node) -> bool:
    """Return whether the mutation causes a syntax error, which would prove nothing about the tests."""
    try:
        return parse(changed).has_error and not root.has_error
    except TooComplex:
        return True


def _find_edits(root: Node, source: bytes) -> Iterator[_Edit]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        waiting.extend(reversed(node.children))
        text = source[node.start_byte : node.end_byte].decode("utf-8", "replace")
        yield from _swap_words(node, text)
        yield from _change_number(node, text)
        yield from _swap_operator(node, text)
        yield from _unquote(node, text)
        yield from _drop_type(node, source)
        yield from _drop_command(node, text)
        yield from _negate_condition(node, source)


def _swap_words(node: Node, text: str) -> Iterator[_Edit]:
    if node.type in ("word", "test_operator", "command_name", "==", "!=") and not (
        node.type == "word" and node.parent is not None and node.parent.type == "command_name"
    ):
        for other in _SWAPS.get(text, ()):
            yield _replace("swap", node, text, other)


def _change_number(node: Node, text: str) -> Iterator[_Edit]:
    found = _NUMBER.fullmatch(text) if node.type in ("word", "number") else None
    if found:
        sign, digits, unit = found.groups()
        yield _replace("number", node, text, f"{sign}{int(digits) + 1}{unit}")
        if sign:
            other = "-" if sign == "+" else "+"
            yield _replace("sign", node, text, f"{other}{digits}{unit}")


def _swap_operator(node: Node, text: str) -> Iterator[_Edit]:
    if node.type in _OPERATORS and node.type == text:
        # In [[ a > b ]], the operator compares.
        if node.parent is not None and node.parent.type == "binary_expression":
            return
        for other in _OPERATORS[text]:
            yield _replace("operator", node, text, other)


def _unquote(node: Node, text: str) -> Iterator[_Edit]:
    if node.type == "string" and "$" in text and text.startswith('"') and text.endswith('"'):
        yield _replace("quotes", node, text, text[1:-1])
    elif node.type == "raw_string" and any(mark in text for mark in "*?"):
        yield _replace("quotes", node, text, text.strip("'"))


def _drop_type(node: Node, source: bytes) -> Iterator[_Edit]:
    if node.type != "command":
        return
    for option, value in zip(node.children, node.children[1:], strict=False):
        words = source[option.start_byte : value.end_byte].decode("utf-8", "replace")
        if re.fullmatch(r"-type\s+[a-z]", words):
            left_out = f"{show_name(words)} is removed"
            yield _Edit("option", option.start_byte, value.end_byte, b"", left_out)


def _drop_command(node: Node, text: str) -> Iterator[_Edit]:
    stands_alone = node.parent is not None and node.parent.type in _LISTS
    if node.type in ("command", "redirected_statement") and stands_alone and text != ":":
        words = f"{show_name(text)} is removed"
        yield _Edit("command", node.start_byte, node.end_byte, b":", words)


def _negate_condition(node: Node, source: bytes) -> Iterator[_Edit]:
    if node.type not in ("if_statement", "elif_clause", "while_statement"):
        return
    condition = next((child for child in node.named_children if child.type != "comment"), None)
    if condition is None:
        return
    text = source[condition.start_byte : condition.end_byte].decode("utf-8", "replace")
    negated = text[1:].lstrip() if text.startswith("!") else f"! {text}"
    yield _replace("condition", condition, text, negated)


def _replace(kind: str, node: Node, text: str, other: str) -> _Edit:
    words = f"{show_name(text)} becomes {show_name(other)} on line {node.start_point.row + 1}"
    return _Edit(kind, node.start_byte, node.end_byte, other.encode("utf-8", "replace"), words)
