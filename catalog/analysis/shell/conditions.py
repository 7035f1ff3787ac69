"""Find tests of variables, and the commands that run if the variable is empty."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from catalog.analysis.shell.fragments import Span, Unit

MAXIMUM_NAMES = 12  # in one condition
MAXIMUM_LENGTH = 400  # bytes of one condition
MAXIMUM_COUNT = 9  # arguments

_NAMES = re.compile(r"\$\{?(#(?=[\s\"')\]}])|\w+)")
_TOKEN = re.compile(
    r"(?:\"[^\"]*\"|'[^']*'|\$\([^()]*\)|\$\{[^}]*\}|\$#|\\.|[^\s\"'();&|<>])+|&&|\|\||[<>]=?|[();&|]"
)
_SETS = re.compile(r"\w+=[\"']?(?:[^\"'$\s`]|\$[^\s]*/\w)")
_CONTROL = frozenset({"&&", "||", ")", "]", "]]", "-a", "-o", ";"})
_COMPARED = {"-lt": "<", "-le": "<=", "-gt": ">", "-ge": ">=", "-eq": "==", "-ne": "!="}


@dataclass(frozen=True, slots=True, eq=False)
class Tested:
    """A variable that is tested for being empty, or "#1" if `$#` is tested for the first argument.

    The variable is not empty in `span`. `leads_to` contains the commands that run if the variable is empty.
    """

    name: str
    span: Span
    after: int  # the offset where the branches end
    leads_to: frozenset[str]
    function: str
    is_conditional: bool
    is_direct: bool  # whether the test is for an empty value, not for another value


def read_tests(node: Node, unit: Unit, function: str, is_conditional: bool) -> Iterator[Tested]:
    """Yield the tests of variables in the condition of an `if`, a `while`, or a list with `&&` or `||`."""
    condition, if_true, if_false = _split(node)
    if not condition or not (if_true or if_false):
        return
    start, end = condition[0].start_byte, condition[-1].end_byte
    text = unit.text(start, end) if end - start <= MAXIMUM_LENGTH else ""
    names = list(dict.fromkeys(_NAMES.findall(text)))[:MAXIMUM_NAMES]
    given = [(name, name, "") for name in names if name != "#"]
    if "#" in names:
        given += [(f"#{count + 1}", "#", str(count)) for count in range(MAXIMUM_COUNT)]
    for name, variable, value in given:
        tester = _Condition(text, variable, value)
        result = tester.evaluate()
        if result is not None:
            taken, other = (if_true, if_false) if result else (if_false, if_true)
            last = other[-1].end_byte if other else end
            span = Span(unit, other[0].start_byte if other else end, last)
            is_certain = all(one.type != "elif_clause" for one in taken)
            leads_to = {word for one in taken for word in _run_by(one, unit)} if is_certain else ()
            is_nested = is_conditional and node.type != "elif_clause"
            yield Tested(
                name,
                span,
                node.end_byte,
                frozenset(leads_to),
                function,
                is_nested,
                tester.is_direct,
            )


def _split(node: Node) -> tuple[list[Node], list[Node], list[Node]]:
    """Return the condition, the part that runs if it is true, and the part that runs if it is false."""
    children = node.children
    if node.type == "list":
        operator = children[1].type if len(children) == 3 else ""
        left, right = children[:1], children[2:]
        return (left, right, []) if operator == "&&" else (left, [], right)
    if node.type == "while_statement":
        body = [child for child in children if child.type == "do_group"]
        condition = [c for c in node.children_by_field_name("condition") if c.is_named]
        return (condition, body, []) if children[0].type == "while" else (condition, [], body)
    then = next((at for at, child in enumerate(children) if child.type == "then"), 0)
    named = [child for child in children[then:] if child.is_named]
    otherwise = [child for child in named if child.type in ("elif_clause", "else_clause")]
    condition = [child for child in children[:then] if child.is_named]
    return condition, [child for child in named if child not in otherwise], otherwise


def _run_by(node: Node, unit: Unit) -> Iterator[str]:
    """Yield the commands that the statement always runs: `exit`, `return 0`, or `NAME=` for an assignment."""
    is_group = node.type in ("else_clause", "do_group")
    for one in (
        one for child in (node.named_children if is_group else [node]) for one in _bare(child)
    ):
        text = unit.text(one.start_byte, min(one.end_byte, one.start_byte + 80))
        if one.type == "command" and (words := text.split()):
            is_success = words[0] == "return" and words[1:2] in ([], ["0"])
            yield "return 0" if is_success else words[0]
        elif one.type == "variable_assignment" and _SETS.match(text):
            yield text.partition("=")[0] + "="


def _bare(node: Node) -> Iterator[Node]:
    """Yield the statement without its redirections. For a list, yield its first statement."""
    for _ in range(8):
        if node.type not in ("redirected_statement", "list") or not node.named_children:
            break
        node = node.named_children[0]
    yield node
    if node.type == "compound_statement":
        yield from node.named_children


class _Condition:
    """An evaluator of a condition for a given value of one variable. The result is None if it depends on other
    variables.
    """

    def __init__(self, text: str, name: str, value: str) -> None:
        self.tokens = _TOKEN.findall(text)
        self.at = 0
        self.depth = 0
        self.is_direct = False
        self.value = value
        self.name = re.compile(rf"\$(?:{re.escape(name)}(?!\w)|\{{{re.escape(name)}(?::?-)?\}})")

    def evaluate(self) -> bool | None:
        return self._any(is_test=False)

    def _next(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""

    def _peek(self, ahead: int = 0) -> str:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else ""

    def _any(self, *, is_test: bool) -> bool | None:
        """Evaluate terms joined by `&&` and `||`, from left to right."""
        value = self._term(is_test=is_test)
        while (operator := self._peek()) in ("&&", "||", "-a", "-o"):
            self.at += 1
            other = self._term(is_test=is_test)
            decides = operator in ("||", "-o")
            if decides in (value, other):
                value = decides
            elif None in (value, other):
                value = None
        return value

    def _term(self, *, is_test: bool) -> bool | None:
        token = self._next()
        self.depth += 1
        if self.depth > 100:
            return None
        if token == "!":
            value = self._term(is_test=is_test)
            return None if value is None else not value
        if token in ("(", "[", "[["):
            value = self._any(is_test=is_test or token != "(" or self._peek() == "(")
            while self._peek() not in ("", ")", "]", "]]"):
                self.at, value = self.at + 1, None
            self.at += 1
            return value
        if token == "test":
            return self._any(is_test=True)
        if is_test:
            return self._test(token)
        while self._peek() and self._peek() not in ("&&", "||", ")"):
            self.at += 1  # skip another command
        return None

    def _test(self, token: str) -> bool | None:
        if re.fullmatch(r"-[a-zA-Z]", token) and self._peek() not in _CONTROL:
            value = self._read(self._next())
            self.is_direct = True
            if token in ("-z", "-n"):
                return None if value is None else (value == "") == (token == "-z")
            return False if value == "" and token != "-o" else None
        left = self._read(token)
        if self._peek() in _CONTROL or not self._peek():
            self.is_direct = True
            return None if left is None else left != ""
        operator = self._next()
        word = self._next()
        right = word if operator == "=~" else self._read(word)
        self.is_direct |= right == left
        return _compare(left, _COMPARED.get(operator, operator), right)

    def _read(self, word: str) -> str | None:
        """Return the word's value without quotes, or None if it is unknown."""
        text = self.name.sub(lambda _found: self.value, word)
        bare = text.replace('"', "").replace("'", "")
        return None if re.search(r"[$`]", bare) else bare


def _compare(left: str | None, operator: str, right: str | None) -> bool | None:
    if left is None or right is None:
        return None
    if operator == "=~":
        return False if left == "" and re.match(r"\^[^*?|]+$", right) else None
    if operator in ("=", "==", "!=") and not re.search(r"[*?\[]", right):
        return (left == right) == (operator != "!=")
    if not (left.isdecimal() and right.isdecimal() and len(left + right) < 9):
        return False if "" in (left, right) else None
    one, other = int(left), int(right)
    return {"<": one < other, "<=": one <= other, ">": one > other, ">=": one >= other}.get(
        operator
    )
