"""Find variables for which a script accepts only certain words, because a `case` statement exits for all other
words.
"""

from __future__ import annotations

import re

from tree_sitter import Node

from catalog.analysis.shell.parsing import TooComplex, parse
from catalog.analysis.shell.program import Program

MOST_CHOICES = 40
_SUBJECT = re.compile(r'"?\$\{?(\w+)(?::?-[^}]*)?\}?"?')
_WORD = re.compile(r"[\w.+-]{1,60}")
_ENDS = re.compile(r"\b(?:exit|return|die|usage|fail)\b")


def find_choices(program: Program) -> dict[str, tuple[str, ...]]:
    """Return the accepted words by variable name or argument number."""
    if "case " not in program.unit.text(0, len(program.unit.source)):
        return {}
    try:
        root = parse(program.unit.source)
    except TooComplex:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    waiting = [root]
    while waiting:
        node = waiting.pop()
        waiting += reversed(node.children)
        if node.type == "case_statement":
            name, words = _read_case(node, program)
            if words:
                found.setdefault(name, words)
    return found


def _read_case(node: Node, program: Program) -> tuple[str, tuple[str, ...]]:
    """Return the variable and its accepted words, or no words if the script also accepts other words."""
    value = node.child_by_field_name("value")
    subject = _SUBJECT.fullmatch(_text(value, program)) if value else None
    items = [child for child in node.children if child.type == "case_item"]
    if subject is None or len(items) < 2:
        return "", ()
    *plain, last = items
    patterns = [_text(pattern, program) for pattern in last.children_by_field_name("value")]
    if patterns != ["*"]:
        # Without a default branch, other words do nothing if the argument is not used elsewhere.
        plain = items if subject[1].isdecimal() and _count(subject[1], program) == 1 else []
    elif not _ENDS.search(_text(last, program)):
        return "", ()
    words = [
        _text(pattern, program).strip("\"'")
        for item in plain
        for pattern in item.children_by_field_name("value")
    ]
    if len(words) > MOST_CHOICES or not all(_WORD.fullmatch(word) for word in words):
        return "", ()
    return subject[1], tuple(dict.fromkeys(words))


def _count(name: str, program: Program) -> int:
    return sum(expansion.variable.name == name for expansion in program.expansions)


def _text(node: Node, program: Program) -> str:
    return program.unit.text(node.start_byte, node.end_byte)
