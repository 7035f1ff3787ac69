"""Read redirections, including heredocs, from the syntax tree."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tree_sitter import Node

from catalog.analysis.shell.command_words import Text, Word, read_word
from catalog.analysis.shell.commands import Redirect, RedirectKind
from catalog.analysis.shell.fragments import Span, Unit
from catalog.analysis.shell.parsing import Heredoc

REDIRECT_NODES = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect"})

_KINDS: dict[str, RedirectKind] = {
    "<": "read",
    ">": "write",
    ">|": "write",
    "&>": "write",
    ">&": "write",
    ">>": "append",
    "&>>": "append",
}


def read_redirect(
    node: Node, unit: Unit, bodies: Mapping[int, Word]
) -> tuple[list[Redirect], list[Node]]:
    """Return the redirections of this node, and the arguments that the tree incorrectly includes in it.

    `bodies` maps operator offsets to the here-documents that were removed from the text.
    """
    if body := bodies.get(operator_at(node)):
        targets = [child for child in node.children if child.is_named and child.type == "word"]
        return [Redirect("text", body)], targets[1:]
    if node.type == "heredoc_redirect":
        return _read_heredoc(node, unit, bodies)
    if node.type == "herestring_redirect":
        return [Redirect("text", read_word(node.named_children, unit))], []
    operators = [child.type for child in node.children if not child.is_named]
    targets = [
        child
        for child in node.children
        if child.is_named and child.type not in ("file_descriptor", "ERROR")
    ]
    if not targets or not operators:
        return [], []
    word = read_word(targets[:1], unit)
    kind = _KINDS.get(operators[-1])
    copies = operators[-1] == ">&" and re.fullmatch(r"[0-9]+-?|-", word.literal or "")
    is_output = kind != "read" and targets[0].type == "process_substitution"
    if kind is None or copies or is_output:
        return [], targets[1:]
    return [Redirect(kind, word)], targets[1:]


def _read_heredoc(
    node: Node, unit: Unit, bodies: Mapping[int, Word]
) -> tuple[list[Redirect], list[Node]]:
    redirects: list[Redirect] = []
    arguments: list[Node] = []
    start = next((child for child in node.children if child.type == "heredoc_start"), None)
    for index, child in enumerate(node.children):
        if child.type == "heredoc_body" and start is not None:
            redirects.append(Redirect("text", _heredoc_word(start, child, unit)))
        elif child.type in REDIRECT_NODES:
            read, more = read_redirect(child, unit, bodies)
            redirects += read
            arguments += more
        elif node.field_name_for_child(index) == "argument":
            arguments.append(child)
    return redirects, arguments


def operator_at(redirect: Node) -> int:
    """Return the offset of the redirection's operator, after the descriptor's number."""
    return next((child for child in redirect.children if not child.is_named), redirect).start_byte


def read_body(heredoc: Heredoc, body: Node | None, unit: Unit) -> Word:
    """Return the text of a here-document. `body` is the tree of an expanded here-document, or else None."""
    if body is not None:
        return read_word([body], unit)
    span = Span(unit, heredoc.start, heredoc.end)
    return Word((Text(span.text, quoted=True),), span)


def _heredoc_word(start: Node, body: Node, unit: Unit) -> Word:
    span = Span(unit, body.start_byte, body.end_byte)
    # A heredoc with a quoted end marker is not expanded.
    if re.search(r"['\"\\]", unit.text(start.start_byte, start.end_byte)):
        return Word((Text(span.text, quoted=True),), span)
    return read_word([body], unit)


def last_command(node: Node) -> Node:
    """Return the command that a redirection after this statement belongs to, or the statement itself."""
    while node.type in ("list", "pipeline", "negated_command", "redirected_statement"):
        inner = [
            child for child in node.children if child.is_named and child.type not in REDIRECT_NODES
        ]
        if not inner:
            return node
        node = inner[-1]
    return node
