"""Walks the syntax tree of one unit and notes every command in it. No recursion, bounded work."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from tree_sitter import Node

from catalog.analysis.shell.commands import (
    Assignment,
    Command,
    Context,
    Expansion,
    Found,
    Gap,
    Loop,
    Redirect,
    RedirectKind,
)
from catalog.analysis.shell.parsing import TooComplex, parse
from catalog.analysis.shell.text import Span, Unit
from catalog.analysis.shell.words import Text, Word, literal_word, read_variable, read_word

MAXIMUM_NESTING = 40  # of loops, pipelines or substitutions

_REDIRECTS = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect"})
_TESTED = re.compile(r"-[nzdefrs]\s+\"?\$\{?(\w+)")
_pipeline_numbers = count()


def walk_unit(unit: Unit, context: Context) -> Found:
    """Every command, redirection, loop and assignment of the unit, with gaps for the rest."""
    found = Found()
    whole = Span(unit, 0, len(unit.source))
    try:
        root = parse(unit.source)
    except TooComplex as error:
        found.gaps.append(Gap(whole, "too_complex", f"This text was not judged: {error}."))
        return found
    _Walker(unit, found).walk(root, context)
    if root.has_error and not any(gap.code == "not_parsed" for gap in found.gaps):
        found.gaps.append(Gap(whole, "not_parsed", _NOT_PARSED))
    return found


_NOT_PARSED = "A part of the script could not be parsed here; risks in it may be missed."


class _Walker:
    def __init__(self, unit: Unit, found: Found) -> None:
        self.unit = unit
        self.found = found
        self.stack: list[tuple[Node, Context]] = []
        # Redirections and arguments that the tree keeps outside of the command they belong to.
        self.pending: dict[int, tuple[list[Redirect], list[Node]]] = {}

    def walk(self, root: Node, context: Context) -> None:
        self.stack.append((root, context))
        while self.stack:
            node, context = self.stack.pop()
            if node.is_missing or node.type == "ERROR":
                self._note_error(node)
            match node.type:
                case "comment":
                    pass
                case "command":
                    self._visit_command(node, context)
                case "declaration_command" | "unset_command":
                    self._visit_declaration(node, context)
                case "test_command":
                    self._note_tests(node)
                    self._push(node.children, context)
                case "variable_assignment":
                    self._note_assignment(node, context)
                    self._push(node.children, context)
                case "redirected_statement":
                    self._visit_redirected(node, context)
                case "file_redirect" | "herestring_redirect":
                    self._read_redirect(node)
                    self._push(node.children, context)
                case "pipeline":
                    self._push_pipeline(node, context, next(_pipeline_numbers), 0)
                case "while_statement" | "c_style_for_statement" | "for_statement":
                    self._visit_loop(node, context)
                case "function_definition":
                    self._visit_function(node, context)
                case "expansion":
                    self._note_expansion(node, context)
                    self._push(node.children, context)
                case "command_substitution" | "process_substitution":
                    key = (self.unit, node.start_byte)
                    inside = replace(context, outputs=(*context.outputs, key))
                    self._push(node.children, inside, depth=len(inside.outputs))
                case _:
                    self._push(node.children, context)

    def _push(self, nodes: list[Node], context: Context, *, depth: int = 0) -> None:
        if depth > MAXIMUM_NESTING:
            span = Span(self.unit, nodes[0].start_byte, nodes[0].end_byte)
            self.found.gaps.append(Gap(span, "too_complex", "Nested too deeply to be judged."))
            return
        self.stack += [
            (node, context) for node in reversed(nodes) if node.child_count or node.is_missing
        ]

    def _note_error(self, node: Node) -> None:
        # One is enough: after it, the rest of the tree is the parser's guess.
        if not any(gap.code == "not_parsed" for gap in self.found.gaps):
            span = Span(self.unit, node.start_byte, node.end_byte)
            self.found.gaps.append(Gap(span, "not_parsed", _NOT_PARSED))

    def _visit_command(self, node: Node, context: Context) -> None:
        redirects, word_nodes = self.pending.pop(node.id, ([], []))
        word_nodes = [*word_nodes]
        prefixes: list[Assignment] = []
        for child in node.children:
            if child.type == "variable_assignment":
                prefixes.append(self._read_assignment(child, context))
            elif child.type in _REDIRECTS:
                read, more = self._read_redirect(child)
                redirects = [*redirects, *read]
                word_nodes += more
            else:
                word_nodes += child.children if child.type == "command_name" else [child]
        self._push(node.children, context)
        words = tuple(self._read_words(word_nodes))
        if not words:
            return
        command = Command(
            words,
            Span(self.unit, node.start_byte, node.end_byte),
            context,
            tuple(prefixes),
            tuple(redirects),
        )
        self.found.commands.append(command)
        if command.name in ("test", "["):
            self._note_tests(node)

    def _visit_declaration(self, node: Node, context: Context) -> None:
        redirects, _ = self.pending.pop(node.id, ([], []))
        span = Span(self.unit, node.start_byte, node.end_byte)
        words = tuple(
            literal_word(child_text, Span(self.unit, child.start_byte, child.end_byte))
            for child in node.children
            if (child_text := self.unit.text(child.start_byte, child.end_byte)[:200])
        )
        self.found.commands.append(Command(words, span, context, redirects=tuple(redirects)))
        self._push(node.children, context)

    def _note_tests(self, node: Node) -> None:
        span = Span(self.unit, node.start_byte, node.end_byte)
        self.found.tested += [(name, span) for name in _TESTED.findall(span.text[:4000])]

    def _note_expansion(self, node: Node, context: Context) -> None:
        if variable := read_variable(node, self.unit):
            span = Span(self.unit, node.start_byte, node.end_byte)
            self.found.expansions.append(Expansion(variable, span, context.function))

    def _note_assignment(self, node: Node, context: Context) -> None:
        self.found.assignments.append(self._read_assignment(node, context))

    def _read_assignment(self, node: Node, context: Context) -> Assignment:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        is_array = value is not None and value.type == "array"
        nodes = value.named_children if value is not None and is_array else [value]
        values = tuple(read_word([item], self.unit) for item in nodes if item is not None)
        operator = node.children[1].type if node.child_count > 1 else "="
        # An element is no value of the whole: only the name before the index counts.
        bare = re.match(r"\w*", self.unit.text(name.start_byte, name.end_byte)) if name else None
        return Assignment(
            bare[0] if bare else "",
            values,
            Span(self.unit, node.start_byte, node.end_byte),
            is_array=is_array or (name is not None and name.type == "subscript"),
            appends=operator == "+=",
            function=context.function,
            in_loop=bool(context.loops),
        )

    def _visit_redirected(self, node: Node, context: Context) -> None:
        body = node.child_by_field_name("body")
        redirects: list[Redirect] = []
        arguments: list[Node] = []
        for child in node.children:
            if child.type in _REDIRECTS:
                read, more = self._read_redirect(child)
                redirects += read
                arguments += more
        body_context = context
        for child in reversed(node.children):
            if child.type == "heredoc_redirect":
                body_context = self._push_after_heredoc(child, context, body_context)
            elif child.type in _REDIRECTS:
                self._push(child.children, context)
        if body is None:  # `> file` alone does what `: > file` does
            span = Span(self.unit, node.start_byte, node.end_byte)
            colon = Command((literal_word(":", span),), span, context, (), tuple(redirects))
            self.found.commands.append(colon)
            return
        last = _last_command(body)
        before, words = self.pending.get(last.id, ([], []))
        self.pending[last.id] = ([*before, *redirects], [*words, *arguments])
        self.stack.append((body, body_context))

    def _push_after_heredoc(self, node: Node, context: Context, body: Context) -> Context:
        """Push what the tree hangs below a heredoc; return the context of the command before it."""
        for child in reversed(node.children):
            if child.type == "pipeline":  # `cmd <<EOF | other`: its first member stands outside
                number = next(_pipeline_numbers)
                self._push_pipeline(child, context, number, 1)
                body = replace(body, pipes=(*body.pipes, (number, 0)))
            elif child.type in _REDIRECTS:
                self._push(child.children, context)
            else:
                self._push([child], context)
        return body

    def _read_redirect(self, node: Node) -> tuple[list[Redirect], list[Node]]:
        """The redirections, and arguments that the tree counts to them."""
        if node.type == "heredoc_redirect":
            return self._read_heredoc(node)
        if node.type == "herestring_redirect":
            return [Redirect("text", read_word(node.named_children, self.unit))], []
        operators = [child.type for child in node.children if not child.is_named]
        targets = [
            c for c in node.children if c.is_named and c.type not in ("file_descriptor", "ERROR")
        ]
        if not targets or not operators:
            return [], []
        redirects: list[Redirect] = []
        word = read_word(targets[:1], self.unit)
        kind = _KINDS.get(operators[-1])
        copies = operators[-1] == ">&" and re.fullmatch(r"[0-9]+-?|-", word.literal or "")
        if kind and not copies and targets[0].type != "process_substitution":
            redirects.append(Redirect(kind, word))
        self.found.redirects += redirects
        return redirects, targets[1:]

    def _read_heredoc(self, node: Node) -> tuple[list[Redirect], list[Node]]:
        redirects: list[Redirect] = []
        arguments: list[Node] = []
        start = next((c for c in node.children if c.type == "heredoc_start"), None)
        for index, child in enumerate(node.children):
            if child.type == "heredoc_body" and start is not None:
                redirects.append(Redirect("text", self._heredoc_word(start, child)))
            elif child.type in _REDIRECTS:
                read, more = self._read_redirect(child)
                redirects += read
                arguments += more
            elif node.field_name_for_child(index) == "argument":
                arguments.append(child)
        return redirects, arguments

    def _heredoc_word(self, start: Node, body: Node) -> Word:
        span = Span(self.unit, body.start_byte, body.end_byte)
        if re.search(r"['\"\\]", self.unit.text(start.start_byte, start.end_byte)):
            return Word((Text(span.text, quoted=True),), span)
        return read_word([body], self.unit)

    def _push_pipeline(self, node: Node, context: Context, number: int, first: int) -> None:
        members = [child for child in node.children if child.is_named and child.type != "comment"]
        for place, member in reversed(list(enumerate(members, first))):
            pipes = (*context.pipes, (number, place))
            self._push([member], replace(context, pipes=pipes), depth=len(pipes))

    def _visit_loop(self, node: Node, context: Context) -> None:
        if node.type == "for_statement":
            self._note_loop_variable(node)
        loop = Loop(Span(self.unit, node.start_byte, node.end_byte), self._is_endless(node))
        self.found.loops.append(loop)
        inside = replace(context, loops=(*context.loops, loop))
        self._push(node.children, inside, depth=len(inside.loops))

    def _note_loop_variable(self, node: Node) -> None:
        variable = node.child_by_field_name("variable")
        if variable is None:
            return
        name = self.unit.text(variable.start_byte, variable.end_byte)
        values = node.children_by_field_name("value")
        if not values or node.children[0].type == "select":
            self.found.variable_writers.add(name)
        span = Span(self.unit, variable.start_byte, variable.end_byte)
        for value in values:
            word = read_word([value], self.unit)
            self.found.assignments.append(Assignment(name, (word,), span, is_loop=True))

    def _is_endless(self, node: Node) -> bool:
        if node.type == "for_statement":
            return False
        if node.type == "c_style_for_statement":
            return node.child_by_field_name("condition") is None
        conditions = [c for c in node.children_by_field_name("condition") if c.is_named]
        if len(conditions) != 1:
            return False
        condition = self.unit.text(conditions[0].start_byte, conditions[0].end_byte)
        return (node.children[0].type, condition.strip("[(]) ")) in _ENDLESS or (
            node.children[0].type == "while" and condition.startswith("sleep ")
        )

    def _visit_function(self, node: Node, context: Context) -> None:
        name_node = node.child_by_field_name("name")
        name = self.unit.text(name_node.start_byte, name_node.end_byte) if name_node else ""
        self.found.functions.add(name)
        self._push(node.children, Context(function=name, via=context.via))

    def _read_words(self, nodes: list[Node]) -> Iterator[Word]:
        """Words from nodes; nodes that touch each other are one word."""
        group: list[Node] = []
        for node in sorted(nodes, key=lambda node: node.start_byte):
            if group and node.start_byte != group[-1].end_byte:
                yield read_word(group, self.unit)
                group = []
            group.append(node)
        if group:
            yield read_word(group, self.unit)


_ENDLESS = frozenset(
    {("while", "true"), ("while", ":"), ("while", "1"), ("while", "/bin/true"), ("while", "test 1")}
    | {("until", "false"), ("until", "/bin/false"), ("until", "! true")}
)


_KINDS: dict[str, RedirectKind] = {
    "<": "read",
    ">": "write",
    ">|": "write",
    "&>": "write",
    ">&": "write",
    ">>": "append",
    "&>>": "append",
}


def _last_command(node: Node) -> Node:
    """The command that a redirection after this statement belongs to, or the statement itself."""
    while node.type in ("list", "pipeline", "negated_command", "redirected_statement"):
        inner = [c for c in node.children if c.is_named and c.type not in _REDIRECTS]
        if not inner:
            return node
        node = inner[-1]
    return node
