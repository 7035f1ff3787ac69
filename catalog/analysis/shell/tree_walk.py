"""Walk the syntax tree of one unit and record every command, without recursion and in bounded time."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice

from tree_sitter import Node

from catalog.analysis.shell.command_words import (
    Output,
    Variable,
    Word,
    literal_word,
    read_variable,
    read_word,
)
from catalog.analysis.shell.commands import (
    Assignment,
    Command,
    Context,
    Expansion,
    Found,
    Gap,
    Loop,
    Redirect,
)
from catalog.analysis.shell.conditions import read_tests
from catalog.analysis.shell.fragments import Span, Unit
from catalog.analysis.shell.hidden_substitutions import find_hidden, unescape_backquoted
from catalog.analysis.shell.parsing import TooComplex
from catalog.analysis.shell.recovery import Text, has_command_word, read_text
from catalog.analysis.shell.redirects import (
    REDIRECT_NODES,
    last_command,
    operator_at,
    read_body,
    read_redirect,
)

MAXIMUM_DEPTH = 5  # levels of nested script text
MAXIMUM_HIDDEN = 200  # nested substitutions in one unit
MAXIMUM_NESTING = 40  # levels of loops, pipelines or substitutions
MAXIMUM_TESTS = 3_000  # in one unit
MAXIMUM_WORDS = 2_000  # in one command

_NOT_PARSED = "This part could not be parsed, so risks in it may be missed."
_EVALUATED = "A value is used as a variable's name here. Commands in its subscript would run."
# Matches `${!1}` and `test -v "$1"`.
_NAMES = re.compile(rb"\$\{!\d+\}|(?:\[\[?|test|printf)[ \t]{1,9}-v[ \t]{1,9}\"?\$\{?\d")
_WRITERS = frozenset({"read", "mapfile", "readarray", "getopts", "unset"})
_WRITING = {"printf": "v", "declare": "n", "local": "n", "typeset": "n"}
_INTO_COMMAND = re.compile(rb"(?:[1&]?>|>&)[ \t]{0,9}>\(")  # equivalent to a pipe
_TESTING = frozenset({"if_statement", "elif_clause", "list", "while_statement"})
_BRANCHES = frozenset({"if_statement", "case_statement", "list"})
_LOOPS = frozenset({"while_statement", "c_style_for_statement", "for_statement"})
_ENDLESS = {
    "while": frozenset({"true", ":", "1", "/bin/true"}),
    "until": frozenset({"false", "/bin/false", "! true"}),
}


def walk_unit(unit: Unit, context: Context) -> Found:
    """Return every command, redirection, loop and assignment of the unit, and gaps for unread parts."""
    found = Found()
    waiting = deque([(unit, context)])
    for _ in range(MAXIMUM_HIDDEN):
        if not waiting:
            return found
        _walk_text(*waiting.popleft(), found, waiting)
    span = Span(unit, 0, len(unit.source))
    found.gaps.append(Gap(span, "too_complex", "Too many nested substitutions to analyze."))
    return found


_Waiting = deque[tuple[Unit, Context]]


def _walk_text(unit: Unit, context: Context, found: Found, waiting: _Waiting) -> None:
    whole = Span(unit, 0, len(unit.source))
    if unit.depth > MAXIMUM_DEPTH:
        found.gaps.append(Gap(whole, "too_complex", "Nested too deeply to analyze."))
        return
    try:
        text = read_text(unit.source)
    except TooComplex as error:
        found.gaps.append(Gap(whole, "unparsed", f"This text was not analyzed: {error}."))
        return
    for name in islice(_NAMES.finditer(unit.source), MAXIMUM_HIDDEN):
        found.gaps.append(Gap(Span(unit, *name.span()), "dynamic_code", _EVALUATED))
    found.gaps += [_unread(Span(unit, start, end)) for start, end in text.unread]
    walker = _Walker(unit, found, waiting, text)
    for root in text.roots:
        walker.walk(root, context)
    # Commands in unread parts are analyzed, too, but assignments in them are ignored.
    guessed = Found()
    for root in text.guesses:
        _Walker(unit, guessed, waiting, text).walk(root, context)
    found.commands += guessed.commands
    found.redirects += guessed.redirects
    hidden_in_bodies = find_hidden(text.bodies.values(), unit.source)
    for hidden in chain(find_hidden(text.roots, text.source), hidden_in_bodies):
        # Only the start of the substitution is certain, not its end or its other contents.
        span = Span(unit, hidden.start, hidden.end)
        if not any(gap.code == "not_parsed" and gap.span.line == span.line for gap in found.gaps):
            found.gaps.append(Gap(span, "not_parsed", _NOT_PARSED))
        waiting.append((Unit(hidden.source, span, depth=unit.depth + 1), context))
        if len(waiting) > MAXIMUM_HIDDEN:
            break


def _unread(span: Span) -> Gap:
    gap = Gap(span, "unparsed", "could not be parsed, so risks in it may be missed. Review it.")
    if not has_command_word(span.unit.source[span.start : span.end]):
        gap = Gap(span, "skipped", "could not be parsed, but contains no commands.")
    first, last = span.line, gap.last_line
    lines = f"Line {first}" if last == first else f"The part from line {first} to line {last}"
    return replace(gap, message=f"{lines} {gap.message}")


class _Walker:
    def __init__(self, unit: Unit, found: Found, waiting: _Waiting, text: Text) -> None:
        self.unit = unit
        self.bodies = text.bodies
        self.heredocs = {
            at: read_body(heredoc, text.bodies.get(at), unit)
            for at, heredoc in text.heredocs.items()
        }
        self.found = found
        self.waiting = waiting
        self.tests = 0
        self.stack: list[tuple[Node, Context]] = []
        # Redirections and arguments that are outside their command in the tree.
        self.pending: dict[int, tuple[list[Redirect], list[Node]]] = {}

    def walk(self, root: Node, context: Context) -> None:
        self.stack.append((root, context))
        while self.stack:
            node, context = self.stack.pop()
            if node.is_missing or node.is_error:
                self._note_error(node)
            if node.type in _TESTING and self.tests < MAXIMUM_TESTS:
                self.tests += 1
                is_nested = context.is_conditional
                self.found.tested += read_tests(node, self.unit, context.function, is_nested)
            if node.type in _LOOPS:
                self._visit_loop(node, context)
                continue
            if node.type in _BRANCHES:
                context = replace(context, is_conditional=True)
            match node.type:
                case "command":
                    self._visit_command(node, context)
                case "declaration_command" | "unset_command":
                    self._visit_declaration(node, context)
                case "redirected_statement":
                    self._visit_redirected(node, context)
                case "pipeline":
                    self._push_pipeline(node, context, first=0)
                case "function_definition":
                    self._visit_function(node, context)
                case "command_substitution" | "process_substitution":
                    outputs = (*context.outputs, (self.unit, node.start_byte))
                    inside = replace(context, outputs=outputs)
                    if not self._defer_backquoted(node, inside):
                        self._push(node.children, inside, len(outputs))
                case _:
                    self._note(node, context)
                    self._push(node.children, context)

    def _push(self, nodes: list[Node], context: Context, depth: int = 0) -> None:
        if depth > MAXIMUM_NESTING:
            span = self._span(nodes[0])
            self.found.gaps.append(Gap(span, "too_complex", "Nested too deeply to analyze."))
            return
        for node in nodes if self.bodies else ():
            if node.type == "file_redirect" and (body := self.bodies.get(operator_at(node))):
                self.stack.append((body, context))
        self.stack += [
            (node, context) for node in reversed(nodes) if node.child_count or node.is_missing
        ]

    def _defer_backquoted(self, node: Node, context: Context) -> bool:
        """Queue a backquoted substitution with escapes, and return whether it was queued. The tree of such a
        substitution is wrong, because the shell first removes the backslashes.
        """
        written = self.unit.source[node.start_byte + 1 : node.end_byte - 1]
        if self.unit.source[node.start_byte : node.start_byte + 1] != b"`" or b"\\" not in written:
            return False
        if b'\\"' in written:  # its meaning depends on the quotes around it
            self._note_error(node)
        read = unescape_backquoted(written)
        if read == written:
            return False
        self.waiting.append((Unit(read, self._span(node), depth=self.unit.depth + 1), context))
        return True

    def _span(self, node: Node) -> Span:
        return Span(self.unit, node.start_byte, node.end_byte)

    def _text(self, node: Node) -> str:
        return self.unit.text(node.start_byte, node.end_byte)

    def _note(self, node: Node, context: Context) -> None:
        """Record a node that is not a command."""
        match node.type:
            case "variable_assignment":
                self.found.assignments.append(self._read_assignment(node, context))
            case "expansion" | "simple_expansion":
                if variable := read_variable(node, self.unit):
                    span = self._span(node)
                    self.found.expansions.append(Expansion(variable, span, context.function))
                    if variable.operator + variable.operand == "@P":  # runs the value, as eval
                        bare = replace(variable, quoted=True, operator="", operand="")
                        mark = literal_word('"', span).parts
                        text = Word((*literal_word(": ", span).parts, *mark, bare, *mark), span)
                        words = (literal_word("eval", span), text)
                        self.found.commands.append(Command(words, span, context))
            case "file_redirect" | "herestring_redirect":
                self.found.redirects += read_redirect(node, self.unit, self.heredocs)[0]

    def _note_error(self, node: Node) -> None:
        # One gap is enough, because the rest of the tree after an error is only a guess.
        if not any(gap.code == "not_parsed" for gap in self.found.gaps):
            self.found.gaps.append(Gap(self._span(node), "not_parsed", _NOT_PARSED))

    def _visit_command(self, node: Node, context: Context) -> None:
        outside = self.pending.pop(node.id, ([], []))
        redirects, word_nodes = [*outside[0]], [*outside[1]]
        prefixes: list[Assignment] = []
        for child in node.children:
            if child.type == "variable_assignment":
                prefixes.append(self._read_assignment(child, context))
            elif child.type in REDIRECT_NODES:
                read, more = read_redirect(child, self.unit, self.heredocs)
                redirects += read
                word_nodes += more
            else:
                word_nodes += child.children if child.type == "command_name" else [child]
        # Prefix assignments apply only to this command, so do not record them as assignments of the script.
        nested: list[Node] = []
        for child in node.children:
            nested += child.children if child.type == "variable_assignment" else [child]
        self._push(nested, context)
        words = tuple(self._read_words(word_nodes[:MAXIMUM_WORDS]))
        if len(word_nodes) > MAXIMUM_WORDS:
            gap = Gap(
                self._span(node), "too_complex", "This command has too many words to analyze."
            )
            self.found.gaps.append(gap)
        if words:
            self._note_command(
                Command(words, self._span(node), context, tuple(prefixes), tuple(redirects))
            )

    def _note_command(self, command: Command) -> None:
        self.found.commands.append(command)
        flag = _WRITING.get(command.name)
        if command.name == "printf" and self._note_printed(command):
            return
        options = (word.prefix for word in command.arguments[:3])
        if command.name in _WRITERS or (flag and any(re.match(rf"-\w*{flag}", o) for o in options)):
            arguments = command.arguments[1:] if command.name == "getopts" else command.arguments
            arguments = tuple(w for w in arguments if flag != "n" or "=" not in w.prefix)
            names = ((word.literal or "").partition("=")[0] for word in arguments)
            self.found.variable_writers.update(name for name in names if name.isidentifier())

    def _note_printed(self, command: Command) -> bool:
        """Record `printf -v name ...` as `name=$(printf ...)`. Return whether the command has this form."""
        option, name = [word.literal or "" for word in (*command.arguments, *command.words)[:2]]
        if option != "-v" or not name.isidentifier():
            return False
        span, at = command.span, command.context
        inside = replace(at, outputs=(*at.outputs, (self.unit, span.start)), pipes=())
        words = (command.words[0], *command.words[3:])
        self.found.commands[-1] = replace(command, words=words, context=inside)
        values = (Word((Output("command", "$(printf)", span.start),), span),)
        noted = Assignment(name, values, span, function=at.function, in_loop=bool(at.loops))
        self.found.assignments.append(replace(noted, is_conditional=at.is_conditional))
        return True

    def _visit_declaration(self, node: Node, context: Context) -> None:
        redirects, _ = self.pending.pop(node.id, ([], []))
        words = tuple(
            literal_word(self._text(child)[:200], self._span(child)) for child in node.children
        )
        command = Command(words, self._span(node), context, redirects=tuple(redirects))
        self._note_command(command)
        self._push(node.children, context)

    def _read_assignment(self, node: Node, context: Context) -> Assignment:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        is_array = value is not None and value.type == "array"
        nodes = value.named_children if value is not None and is_array else [value]
        # An element is not the value of the array, so use only the name before the index.
        bare = re.match(r"\w*", self._text(name)) if name else None
        values = tuple(read_word([item], self.unit) for item in nodes if item is not None)
        parent = node.parent
        declared = self._text(parent) if parent and parent.type == "declaration_command" else ""
        if re.match(r"(?:declare|local|typeset)\s+-\w*n", declared):  # names another variable
            values = tuple(
                replace(one, parts=(Variable(one.literal, quoted=True),)) if one.literal else one
                for one in values
            )
        return Assignment(
            bare[0] if bare else "",
            values,
            self._span(node),
            is_array=is_array or (name is not None and name.type == "subscript"),
            appends=any(child.type == "+=" for child in node.children[:2]),
            function=context.function,
            in_loop=bool(context.loops),
            is_conditional=context.is_conditional,
        )

    def _visit_redirected(self, node: Node, context: Context) -> None:
        body = node.child_by_field_name("body")
        redirects: list[Redirect] = []
        arguments: list[Node] = []
        for child in node.children:
            if child.type in REDIRECT_NODES:
                read, more = read_redirect(child, self.unit, self.heredocs)
                redirects += read
                arguments += more
        self.found.redirects += redirects
        body_context = context
        for child in reversed(node.children):
            if child.type == "heredoc_redirect":
                body_context = self._push_after_heredoc(child, context, body_context)
            elif child.type in REDIRECT_NODES:
                inside = context
                if _INTO_COMMAND.match(self.unit.source, child.start_byte):
                    start = (self.unit, child.start_byte)
                    body_context = replace(body_context, pipes=(*body_context.pipes, (*start, 0)))
                    inside = replace(context, pipes=(*context.pipes, (*start, 1)))
                self._push(child.children, inside)
                if taken_out := self.bodies.get(operator_at(child)):
                    self.stack.append((taken_out, context))
        if body is None:  # `> file` alone is the same as `: > file`
            span = self._span(node)
            colon = Command((literal_word(":", span),), span, context, (), tuple(redirects))
            self.found.commands.append(colon)
            return
        last = last_command(body)
        if last.type not in ("command", "declaration_command", "test_command"):
            span = self._span(last)
            self.found.group_writes += [(r, span) for r in redirects if r.kind != "read"]
        before, words = self.pending.get(last.id, ([], []))
        self.pending[last.id] = ([*before, *redirects], [*words, *arguments])
        self.stack.append((body, body_context))

    def _push_after_heredoc(self, node: Node, context: Context, body: Context) -> Context:
        """Push the nodes that the tree has below a heredoc, and return the context of the command before it."""
        for child in reversed(node.children):
            if child.type == "pipeline":  # in `cmd <<EOF | other`, the first command is outside
                self._push_pipeline(child, context, first=1)
                body = replace(body, pipes=(*body.pipes, (self.unit, child.start_byte, 0)))
            elif child.type in REDIRECT_NODES:
                self._push(child.children, context)
            else:
                self._push([child], context)
        return body

    def _push_pipeline(self, node: Node, context: Context, *, first: int) -> None:
        members = [child for child in node.children if child.is_named and child.type != "comment"]
        for place, member in reversed(list(enumerate(members, first))):
            pipes = (*context.pipes, (self.unit, node.start_byte, place))
            self._push([member], replace(context, pipes=pipes), len(pipes))

    def _visit_loop(self, node: Node, context: Context) -> None:
        if node.type == "for_statement":
            self._note_loop_variable(node)
        loop = Loop(self._span(node), self._is_endless(node))
        self.found.loops.append(loop)
        loops = (*context.loops, loop)
        inside = replace(context, loops=loops, is_conditional=True)
        self._push(node.children, inside, len(loops))

    def _note_loop_variable(self, node: Node) -> None:
        variable = node.child_by_field_name("variable")
        if variable is None:
            return
        name, values = self._text(variable), node.children_by_field_name("value")
        if not values or node.children[0].type == "select":
            self.found.variable_writers.add(name)
        for value in values:
            word = read_word([value], self.unit)
            assignment = Assignment(name, (word,), self._span(variable), is_loop=True)
            self.found.assignments.append(assignment)

    def _is_endless(self, node: Node) -> bool:
        if node.type == "c_style_for_statement":
            return node.child_by_field_name("condition") is None
        conditions = [c for c in node.children_by_field_name("condition") if c.is_named]
        keyword = node.children[0].type
        if len(conditions) != 1 or keyword not in _ENDLESS:
            return False
        condition = self._text(conditions[0]).strip("[(]) ")
        is_sleep = keyword == "while" and condition.startswith("sleep ")
        return is_sleep or condition.removeprefix("test ") in _ENDLESS[keyword]

    def _visit_function(self, node: Node, context: Context) -> None:
        name_node = node.child_by_field_name("name")
        name = self._text(name_node) if name_node else ""
        self.found.functions.add(name)
        if node.parent and node.parent.type == "program" and not self.unit.depth:
            self.found.own.setdefault(name, self._span(node).line)
        self._push(node.children, Context(function=name, via=context.via))

    def _read_words(self, nodes: list[Node]) -> Iterator[Word]:
        """Yield words from nodes. Adjacent nodes form one word."""
        group: list[Node] = []
        for node in sorted(nodes, key=lambda node: node.start_byte):
            if group and node.start_byte != group[-1].end_byte:
                yield read_word(group, self.unit)
                group = []
            group.append(node)
        if group:
            yield read_word(group, self.unit)
