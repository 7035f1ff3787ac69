"""Describe a script without a model: walk its syntax tree and name its literals."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence

from tree_sitter import Node

from pipeline.standin.description.command_phrases import join_words, show_word
from pipeline.standin.description.invocation import say_invocation
from pipeline.standin.description.test_command import say_test
from pipeline.standin.language.shell_syntax import parse, read_word, source, walk
from pipeline.standin.language.statement_comparison import DETAIL, SUMMARY

_LONGEST = 2000  # Characters. Longer descriptions are not readable.
_LONGEST_COMMENT = 300
_LONGEST_SCRIPT = 50_000
_PARAMETER = re.compile(r'"?\$\{(\w+):?(?P<how>[?=])(?P<rest>.*)\}"?', re.DOTALL)


def describe(script: str) -> str:
    """Describe `script` in one or more sentences, deterministically and without running it."""
    narrator = _Narrator()
    root = parse(script[:_LONGEST_SCRIPT])
    try:
        sentences = narrator.tell_all(root.named_children)
    except RecursionError:
        return "Is nested too deeply to describe."
    if root.has_error:
        sentences.append("part of it is not valid Bash")
    if narrator.needed:
        sentences.append(f"requires {' and '.join(narrator.needed)}")
    text = " ".join(
        f"{said[0].upper()}{said[1:].rstrip('. ')}." for said in dict.fromkeys(sentences)
    )
    summary = _read_comment(script)
    text = text[:_LONGEST] or "Does nothing."
    return f"{SUMMARY}{summary}.{DETAIL}{text}" if summary else text


def _read_comment(script: str) -> str:
    """Return the comment at the top of the script, without its final period."""
    lines = script.splitlines()
    lines = lines[1:] if script.startswith("#!") else lines
    head = itertools.takewhile(lambda line: line.startswith("#"), lines)
    words = " ".join(line.lstrip("# ") for line in head if "shellcheck" not in line)
    return " ".join(words.split())[:_LONGEST_COMMENT].rstrip(".")


class _Narrator:
    """A narrator that describes syntax nodes and remembers the values of variables."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self.needed: list[str] = []

    def tell_all(self, nodes: Sequence[Node]) -> list[str]:
        """Return the nonempty descriptions of the statements."""
        return [said for said in (self.tell(node) for node in nodes) if said]

    def tell(self, node: Node) -> str:
        """Describe one statement. Return an empty string if it does nothing of interest."""
        teller = _TELLERS.get(node.type)
        return teller(self, node) if teller else ""

    def _say(self, words: Sequence[str]) -> str:
        return say_invocation(words, tell_script=_tell_inner)

    def _words(self, node: Node) -> list[str]:
        named = node.child_by_field_name("name")
        words = [read_word(named, self.known)] if named else []
        return words + [
            read_word(child, self.known) for child in node.children_by_field_name("argument")
        ]

    def _tell_command(self, node: Node) -> str:
        words = self._words(node)
        if words[:1] == [":"]:
            self._learn_parameter(source(node)[1:].strip())
            return ""
        said = self._say(words)
        part = next((part for part in walk(node) if part.type == "command_substitution"), None)
        inner = "; ".join(self.tell_all(part.named_children)) if part else ""
        if not part or not inner:
            return said
        told = f"{source(part)} is the output of a command that {inner}"
        return f"{said}, where {told}" if said else inner

    def _learn_parameter(self, text: str) -> None:
        found = _PARAMETER.fullmatch(text)
        if found and found["how"] == "=":
            self.known.setdefault(found[1], found["rest"].strip("\"'"))
        elif found:
            self.needed.append(f"{found[1]} ({found['rest']})" if found["rest"] else found[1])

    def _tell_pipeline(self, node: Node) -> str:
        return ", then ".join(self.tell_all(node.named_children))

    def _tell_list(self, node: Node) -> str:
        left, right = node.named_children[0], node.named_children[-1]
        first, second = self.tell(left), self.tell(right)
        fails = any(child.type == "||" for child in node.children)
        if not second:
            return first
        if _is_test(left):
            return f"{'unless' if fails else 'if'} {self._condition(left)}, {second}"
        return f"{first}; if that {'fails' if fails else 'succeeds'}, {second}" if first else second

    def _tell_redirected(self, node: Node) -> str:
        body = node.child_by_field_name("body")
        said = [self.tell(body) if body else ""]
        for redirect in node.children_by_field_name("redirect"):
            said.append(self._say_redirect(redirect))
        return ", ".join(filter(None, said))

    def _say_redirect(self, node: Node) -> str:
        if node.type == "heredoc_redirect":
            text = next(
                (source(child) for child in node.children if child.type == "heredoc_body"), ""
            )
            return f'with the text "{" ".join(text.split())[:500]}"'
        if node.type == "herestring_redirect":
            return f"with the text {source(node).removeprefix('<<<').strip()}"
        target = node.child_by_field_name("destination")
        if target is None or target.type == "number":
            return ""
        if target.type == "process_substitution":
            return f"fed by a command that {'; '.join(self.tell_all(target.named_children))}"
        place = read_word(target, self.known)
        signs = {child.type for child in node.children}
        if place == "/dev/null" or place.isdecimal():
            return ""
        if "<" in signs:
            return f"reading {show_word(place)}"
        return f"{'appending' if '>>' in signs else 'writing'} the output to {show_word(place)}"

    def _tell_if(self, node: Node) -> str:
        conditions = node.children_by_field_name("condition")
        bodies = [child for child in node.named_children if child not in conditions]
        tail = [child for child in bodies if child.type in ("elif_clause", "else_clause")]
        said = self._branch(conditions, [child for child in bodies if child not in tail])
        for clause in tail:
            inner = list(clause.named_children)
            if clause.type == "elif_clause" and inner:
                said += f"; otherwise {self._branch(inner[:1], inner[1:])}"
            else:
                said += f"; otherwise {'; '.join(self.tell_all(inner)) or 'nothing'}"
        return said

    def _branch(self, conditions: Sequence[Node], bodies: Sequence[Node]) -> str:
        condition = next((child for child in conditions if child.is_named), None)
        done = "; ".join(self.tell_all(bodies)) or "does nothing"
        if condition is None:
            return done
        if any(_is_test(part) for part in (condition, *condition.named_children[:1])):
            return f"if {self._condition(condition)}, {done}"
        ending = "fails" if condition.type == "negated_command" else "succeeds"
        return f"{self.tell(condition)}; if that {ending}, {done}"

    def _condition(self, node: Node) -> str:
        if node.type == "negated_command":
            return f"it is not true that {self._condition(node.named_children[0])}"
        if node.type == "list":
            joint = " or " if any(child.type == "||" for child in node.children) else " and "
            return joint.join(self._condition(child) for child in node.named_children)
        if source(node).startswith("(("):
            return source(node).strip("() ")
        if node.type != "test_command":
            return f"this succeeds: {self.tell(node)}"
        return say_test([read_word(leaf, self.known) for leaf in _leaves(node)])

    def _tell_test(self, node: Node) -> str:
        return f"checks that {self._condition(node)}"

    def _tell_for(self, node: Node) -> str:
        variable = node.child_by_field_name("variable")
        values = [read_word(value, self.known) for value in node.children_by_field_name("value")]
        body = node.child_by_field_name("body")
        done = self.tell(body) if body else ""
        name = source(variable) if variable else ""
        return f"for each ${name} of {join_words(values) or 'the arguments'}: {done}"

    def _tell_while(self, node: Node) -> str:
        condition = node.child_by_field_name("condition")
        body = node.child_by_field_name("body")
        done = self.tell(body) if body else ""
        if (
            condition is not None
            and condition.type == "command"
            and self._words(condition)[:1] == ["read"]
        ):
            return f"for each line read: {done}"
        until = "until" if source(node).startswith("until") else "while"
        if condition is None or source(condition) in ("true", ":"):
            return f"repeatedly: {done}"
        if _is_test(condition):
            return f"{until} {self._condition(condition)}: {done}"
        return f"{until} this succeeds ({self.tell(condition)}): {done}"

    def _tell_loop(self, node: Node) -> str:
        body = node.child_by_field_name("body")
        return f"repeatedly: {self.tell(body)}" if body else ""

    def _tell_case(self, node: Node) -> str:
        value = node.child_by_field_name("value")
        said = []
        for item in node.named_children:
            if item.type == "case_item":
                values = item.children_by_field_name("value")
                done = "; ".join(
                    self.tell_all([child for child in item.named_children if child not in values])
                )
                said.append(
                    f"for {join_words(source(value) for value in values)} {done or 'does nothing'}"
                )
        return f"depending on {source(value) if value else ''}: {'; '.join(said)}"

    def _tell_function(self, node: Node) -> str:
        name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        done = self.tell(body) if body else ""
        return f"defines {source(name) if name else ''}, which {done or 'does nothing'}"

    def _tell_block(self, node: Node) -> str:
        return "; ".join(self.tell_all(node.named_children))

    def _tell_assignment(self, node: Node) -> str:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or value is None:
            return ""
        inner = next((part for part in walk(value) if part.type == "command_substitution"), None)
        if inner is None:
            self.known[source(name)] = read_word(value, self.known)
            return ""
        said = "; ".join(self.tell_all(inner.named_children))
        return f"{said}, saving that as ${source(name)}" if said else ""


_TELLERS: dict[str, Callable[[_Narrator, Node], str]] = {
    "command": _Narrator._tell_command,
    "pipeline": _Narrator._tell_pipeline,
    "list": _Narrator._tell_list,
    "redirected_statement": _Narrator._tell_redirected,
    "if_statement": _Narrator._tell_if,
    "for_statement": _Narrator._tell_for,
    "c_style_for_statement": _Narrator._tell_loop,
    "while_statement": _Narrator._tell_while,
    "case_statement": _Narrator._tell_case,
    "function_definition": _Narrator._tell_function,
    "variable_assignment": _Narrator._tell_assignment,
    "test_command": _Narrator._tell_test,
    **dict.fromkeys(
        ("variable_assignments", "declaration_command", "subshell", "compound_statement")
        + ("do_group", "negated_command", "ERROR"),
        _Narrator._tell_block,
    ),
}


def _is_test(node: Node) -> bool:
    """Return whether a node tests something without running a command."""
    return node.type == "test_command" or source(node).startswith("((")


def _tell_inner(script: str) -> str:
    return "; ".join(_Narrator().tell_all(parse(script).named_children))


def _leaves(node: Node) -> list[Node]:
    """Return the nodes of a test's words in order, without its brackets."""
    if node.type in (
        "test_command",
        "unary_expression",
        "binary_expression",
        "parenthesized_expression",
    ):
        inner = [
            child for child in node.children if child.type not in ("[", "[[", "]", "]]", "((", "))")
        ]
        return [leaf for child in inner for leaf in _leaves(child)]
    return [node]
