"""Words of a command, with the parts that are literal, quoted, or known only at run time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Literal

from tree_sitter import Node

from catalog.analysis.shell.fragments import Span, Unit


@dataclass(frozen=True, slots=True)
class Text:
    """Literal characters, after quotes and backslashes are removed."""

    value: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """`$name` or `${name...}`. `operator` is the text after the name, and `operand` the text after the operator.

    For `${#name}` and `${!name}`, `operator` is "#" or "!", although this sign is written before the name.
    """

    name: str
    quoted: bool = False
    operator: str = ""
    operand: str = ""
    is_list: bool = False  # "$@" and "${name[@]}" expand to multiple words even if quoted


@dataclass(frozen=True, slots=True)
class Output:
    """The output of a command, the file of `<(...)`, a number, or the value that xargs or find inserts."""

    kind: Literal["command", "process", "arithmetic", "input"]
    source: str
    start: int  # byte offset in its unit, also in the context of inner commands
    quoted: bool = False


Part = Text | Variable | Output


@dataclass(frozen=True, eq=False)
class Word:
    """A word, as written and as parsed."""

    parts: tuple[Part, ...]
    span: Span

    @cached_property
    def literal(self) -> str | None:
        """Return the word's value if it is the same on every run, or else None."""
        return "".join(self.texts) if len(self.texts) == len(self.parts) else None

    @property
    def prefix(self) -> str:
        """Return the literal characters at the start of the word."""
        value = ""
        for part in self.parts:
            if not isinstance(part, Text):
                break
            value += part.value
        return value

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Return the literal pieces of the word."""
        return tuple(part.value for part in self.parts if isinstance(part, Text))

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(part for part in self.parts if isinstance(part, Variable))

    @property
    def outputs(self) -> tuple[Output, ...]:
        return tuple(part for part in self.parts if isinstance(part, Output))

    @property
    def sole_variable(self) -> Variable | None:
        """Return the variable if the word consists of only one variable, or else None."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Variable):
            return self.parts[0]
        return None

    @property
    def has_unquoted_expansion(self) -> bool:
        """Return whether the shell may expand the word to multiple words or to none."""
        return any(
            not part.quoted or (isinstance(part, Variable) and part.is_list)
            for part in self.parts
            if not isinstance(part, Text)
        )

    @property
    def takes_input(self) -> bool:
        """Return whether xargs, find or parallel inserts a part of its input."""
        return any(output.kind == "input" for output in self.outputs)

    def with_input(self, placeholder: str, folder: str = "") -> Word:
        """Return the word with the placeholder of xargs, find or parallel replaced by an input part.

        `folder` is the start of every value, if it is known.
        """
        if placeholder not in "".join(self.texts):
            return self
        parts: list[Part] = []
        for is_text, group in groupby(self.parts, lambda part: isinstance(part, Text)):
            if not is_text:
                parts += group
                continue
            texts = [part for part in group if isinstance(part, Text)]
            is_quoted = any(part.quoted for part in texts)
            pieces = "".join(part.value for part in texts).split(placeholder)
            for place, piece in enumerate(pieces):
                if place:
                    parts.append(Output("input", folder or placeholder, -1, quoted=True))
                if piece:
                    parts.append(Text(piece, is_quoted))
        return Word(tuple(parts), self.span)

    def without_prefix(self, length: int) -> Word:
        """Return the word without its first `length` characters, which must be literal."""
        parts, given = list(self.parts), length
        while length and parts and isinstance(parts[0], Text):
            first = parts.pop(0)
            assert isinstance(first, Text)
            if len(first.value) > length:
                parts.insert(0, replace(first, value=first.value[length:]))
            length -= min(length, len(first.value))
        start = self.span.start + len(self.prefix[:given].encode())
        written = self.span.unit.text(self.span.start, start) == self.prefix[:given]
        span = Span(self.span.unit, start, self.span.end) if written else self.span
        return Word(tuple(parts), span)

    def span_of(self, start: int, end: int) -> Span:
        """Return the span of these characters of the literal value, or the whole word's span if they can't be
        located.
        """
        value = self.span.unit.text(self.span.start, self.span.end)
        value = value if self.literal is None else self.literal
        before, inside = value[:start].encode(), value[start:end].encode()
        for skipped in (0, 1):  # a heredoc has no quotes around it, but a quoted word does
            first = self.span.start + skipped + len(before)
            if self.span.unit.source[first - len(before) : first + len(inside)] == before + inside:
                return Span(self.span.unit, first, first + len(inside))
        return self.span


def join_parts(words: Sequence[Word], between: str = "") -> Word:
    """Return one word with the parts of all words. The new word's span covers all words."""
    parts: list[Part] = []
    for word in words:
        if parts and between:
            parts.append(Text(between, quoted=True))
        parts += word.parts
    first, last = words[0].span, words[-1].span
    is_ordered = first.unit is last.unit and first.end <= last.end
    return Word(tuple(parts), Span(first.unit, first.start, last.end if is_ordered else first.end))


def join_words(words: tuple[Word, ...]) -> Word:
    """Return the words joined by spaces, as `eval`, `ssh` and `echo` join them."""
    return words[0] if len(words) == 1 else join_parts(words, " ")


def literal_word(value: str, span: Span) -> Word:
    """Return a word with exactly this text and this span."""
    return Word((Text(value, quoted=True),), span)


def unit_of(word: Word, *, depth: int) -> Unit:
    """Return the word's text as a unit that can be parsed."""
    outer = word.span
    text = "".join(_written(part) for part in word.parts)
    encoded = text.encode("utf-8", "replace")
    # Quoted text and heredocs are mostly copied verbatim, so positions in them are exact.
    for skipped in (0, 1):
        start, end = outer.start + skipped, outer.end - skipped
        if outer.unit.source[start:end] == encoded:
            return Unit(encoded, Span(outer.unit, start, end), exact=True, depth=depth)
    return Unit(encoded, outer, depth=depth)


def _written(part: Part) -> str:
    match part:
        case Text(value):
            return value
        case Variable(name, _, operator, operand):
            if operator in ("#", "!") and not operand:
                return f"${{{operator}{name}}}"
            return f"${{{name}{operator}{operand}}}" if operator else f"${name}"
        case Output(_, source):
            return source


MAXIMUM_SHOWN = 2_000  # bytes of a substitution that are stored
_NESTING = frozenset(
    {"expansion", "command_substitution", "process_substitution", "arithmetic_expansion"}
)
_MARKS = {"string": '"', "translated_string": "$"}
_LETTERS = frozenset({"word", "string_content", "heredoc_content", "number", "brace_expression"})
_EXPANSION = re.compile(
    r"\$\{(?P<mark>[#!]?)(?P<name>\w+|[@*#?$!-])(?P<index>\[[^]]*\])?(?P<operator>:?[-=?+]|[^}\w]|)(?P<rest>.*)\}",
    re.DOTALL,
)


def read_variable(node: Node, unit: Unit) -> Variable | None:
    """Return the variable of a `${...}` node, or None if its form is not supported."""
    part = next(_parts(node, unit, False), None)
    return part if isinstance(part, Variable) else None


def read_word(nodes: list[Node], unit: Unit) -> Word:
    """Return the word that these adjacent nodes form. The grammar may split one word into multiple nodes."""
    span = Span(unit, nodes[0].start_byte, nodes[-1].end_byte)
    return Word(tuple(part for node in nodes for part in _parts(node, unit, False)), span)


def _parts(node: Node, unit: Unit, quoted: bool) -> Iterator[Part]:
    end = node.end_byte
    if node.type in _NESTING:  # otherwise nested substitutions would be copied once per level
        end = min(end, node.start_byte + MAXIMUM_SHOWN)
    source = unit.text(node.start_byte, end)
    match node.type:
        case "string" | "translated_string" | "heredoc_body":
            yield from _flat_parts(node, unit, quoted=True)
        case "concatenation":
            yield from _flat_parts(node, unit, quoted=quoted)
        case "raw_string":
            yield Text(source[1:-1], quoted=True)
        case "ansi_c_string":
            yield Text(read_escapes(source[2:-1]), quoted=True)
        case "simple_expansion" | "expansion" | "command_substitution" | "arithmetic_expansion":
            # In a string, the grammar includes the preceding blanks in the expansion.
            bare = source.lstrip()
            if quoted and len(bare) < len(source):
                yield Text(source[: len(source) - len(bare)], quoted=True)
            yield _read_expansion(node, bare, quoted)
        case "process_substitution":
            yield Output("process", source, node.start_byte, quoted)
        case _:
            yield from _read_text(source, quoted)


def _flat_parts(node: Node, unit: Unit, *, quoted: bool) -> Iterator[Part]:
    """Yield the parts of the node's children and of the text between the children."""
    position = node.start_byte
    for child in node.children:
        if child.start_byte > position:
            yield from _read_text(unit.text(position, child.start_byte), quoted)
        position = child.end_byte
        if child.type == _MARKS.get(node.type):
            continue
        if child.is_named and child.type not in _LETTERS:
            yield from _parts(child, unit, quoted)
        else:
            yield from _read_text(unit.text(child.start_byte, child.end_byte), quoted)
    if node.end_byte > position:
        yield from _read_text(unit.text(position, node.end_byte), quoted)


def _read_expansion(node: Node, source: str, quoted: bool) -> Part:
    if node.type == "simple_expansion":
        return Variable(source[1:], quoted, is_list=source == "$@")
    if node.type == "expansion":
        found = _EXPANSION.fullmatch(source)
        if found is None:
            return Output("command", source, node.start_byte, quoted)
        is_list = found["name"] == "@" or found["index"] == "[@]"
        operator = found["mark"] or found["operator"]
        return Variable(found["name"], quoted, operator, found["rest"], is_list)
    kind: Literal["command", "arithmetic"] = (
        "arithmetic" if node.type == "arithmetic_expansion" else "command"
    )
    return Output(kind, source, node.start_byte, quoted)


def _read_text(source: str, quoted: bool) -> Iterator[Text]:
    if not source:
        return
    if "\\" not in source:
        yield Text(source, quoted)
    elif quoted:  # only these four characters can be escaped between double quotes
        yield Text(re.sub(r'\\(?:\n|([$`"\\]))', r"\1", source), quoted=True)
    else:
        yield Text(re.sub(r"\\(?:\n|(.))", r"\1", source, flags=re.DOTALL), quoted=True)


_ANSI_C = re.compile(
    r"\\(?:x(?P<hex>[0-9a-fA-F]{1,2})|u(?P<u4>[0-9a-fA-F]{1,4})|U(?P<u8>[0-9a-fA-F]{1,8})"
    r"|(?P<octal>[0-7]{1,3})|c.|(?P<letter>.))",
    re.DOTALL,
)
_ANSI_C_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b"}


def read_escapes(source: str) -> str:
    """Return the text with the escapes of `$'...'`, `printf` and `echo -e` decoded."""

    def decode(found: re.Match[str]) -> str:
        digits = found["hex"] or found["u4"] or found["u8"]
        if digits or found["octal"]:
            code = int(digits, 16) if digits else int(found["octal"], 8)
            return chr(code) if code < 0x110000 else "\N{REPLACEMENT CHARACTER}"
        return _ANSI_C_LETTERS.get(found["letter"] or "", found["letter"] or "")

    return _ANSI_C.sub(decode, source)


MAXIMUM_LABEL = 60  # characters of a script's text that a message quotes


def show(word: Word) -> str:
    """Return the word as written, shortened to one line for a message."""
    text = word.span.unit.text(word.span.start, min(word.span.end, word.span.start + 400))
    is_quoted = len(text) > 2 and text[0] in "\"'" and text[-1] == text[0]
    if is_quoted and text.count(text[0]) == 2:
        text = text[1:-1]
    return show_text(text)


def show_text(text: str) -> str:
    """Return text of a script shortened to one line, with unprintable characters replaced."""
    line = " ".join(text.split())
    line = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line
    )
    return line if len(line) <= MAXIMUM_LABEL else line[: MAXIMUM_LABEL - 1] + "…"
