"""Words of a command: what is literal in them, what is quoted, and what only run time knows."""

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
    """Letters that stand for themselves, after quotes and backslashes are taken away."""

    value: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """`$name` or `${name...}`; `operator` is what follows the name, `operand` what follows that.

    The operators of `${#name}` and `${!name}` stand before the name, and are "#" and "!" here too.
    """

    name: str
    quoted: bool = False
    operator: str = ""
    operand: str = ""
    is_list: bool = False  # "$@" and "${name[@]}" are several words even in quotes


@dataclass(frozen=True, slots=True)
class Output:
    """What a command prints, the file behind `<(...)`, a number, or what xargs or find puts in."""

    kind: Literal["command", "process", "arithmetic", "input"]
    source: str
    start: int  # byte offset in its unit: commands inside know it as their `within`
    quoted: bool = False


Part = Text | Variable | Output


@dataclass(frozen=True, eq=False)
class Word:
    """One word as written and as read."""

    parts: tuple[Part, ...]
    span: Span

    @cached_property
    def literal(self) -> str | None:
        """The word's value where it is the same on every run, else None."""
        return "".join(self.texts) if len(self.texts) == len(self.parts) else None

    @property
    def prefix(self) -> str:
        """The literal letters that the word starts with."""
        value = ""
        for part in self.parts:
            if not isinstance(part, Text):
                break
            value += part.value
        return value

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The literal pieces of the word."""
        return tuple(part.value for part in self.parts if isinstance(part, Text))

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(part for part in self.parts if isinstance(part, Variable))

    @property
    def outputs(self) -> tuple[Output, ...]:
        return tuple(part for part in self.parts if isinstance(part, Output))

    @property
    def sole_variable(self) -> Variable | None:
        """The variable, where the word is nothing else."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Variable):
            return self.parts[0]
        return None

    @property
    def has_unquoted_expansion(self) -> bool:
        """Whether the shell may make several words, or none, of it."""
        return any(
            not part.quoted or (isinstance(part, Variable) and part.is_list)
            for part in self.parts
            if not isinstance(part, Text)
        )

    @property
    def takes_input(self) -> bool:
        """Whether xargs, find or parallel puts a part of its input in."""
        return any(output.kind == "input" for output in self.outputs)

    def with_input(self, placeholder: str, folder: str = "") -> Word:
        """The word with the placeholder of xargs, find or parallel as what it stands for.

        `folder` is what each of the values begins with, if that is known.
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
        """The word from its character number `length` on; those before must be literal."""
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
        """Where these characters of the literal value stand, or the word if that is not plain."""
        value = self.span.unit.text(self.span.start, self.span.end)
        value = value if self.literal is None else self.literal
        before, inside = value[:start].encode(), value[start:end].encode()
        for skipped in (0, 1):  # a heredoc has no quotes around it, a quoted word has
            first = self.span.start + skipped + len(before)
            if self.span.unit.source[first - len(before) : first + len(inside)] == before + inside:
                return Span(self.span.unit, first, first + len(inside))
        return self.span


def join_parts(words: Sequence[Word], between: str = "") -> Word:
    """One word of all of them, from where the first begins to where the last ends."""
    parts: list[Part] = []
    for word in words:
        if parts and between:
            parts.append(Text(between, quoted=True))
        parts += word.parts
    first, last = words[0].span, words[-1].span
    is_ordered = first.unit is last.unit and first.end <= last.end
    return Word(tuple(parts), Span(first.unit, first.start, last.end if is_ordered else first.end))


def join_words(words: tuple[Word, ...]) -> Word:
    """One word of all of them with blanks between, as `eval`, `ssh` and `echo` make it."""
    return words[0] if len(words) == 1 else join_parts(words, " ")


def literal_word(value: str, span: Span) -> Word:
    """A word of exactly these letters; its place is `span`."""
    return Word((Text(value, quoted=True),), span)


def unit_of(word: Word, *, depth: int) -> Unit:
    """The text of the word as a unit to be parsed."""
    outer = word.span
    text = "".join(_written(part) for part in word.parts)
    encoded = text.encode("utf-8", "replace")
    # Between quotes, or in a heredoc, it mostly stands letter for letter: then places are exact.
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


MAXIMUM_SHOWN = 2_000  # bytes of a substitution that are kept to be looked at
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
    """What a `${...}` node says; None where it is nothing that we know."""
    part = next(_parts(node, unit, False), None)
    return part if isinstance(part, Variable) else None


def read_word(nodes: list[Node], unit: Unit) -> Word:
    """The word that these adjacent nodes make up; several where the grammar cut one in pieces."""
    span = Span(unit, nodes[0].start_byte, nodes[-1].end_byte)
    return Word(tuple(part for node in nodes for part in _parts(node, unit, False)), span)


def _parts(node: Node, unit: Unit, quoted: bool) -> Iterator[Part]:
    end = node.end_byte
    if node.type in _NESTING:  # else nested substitutions would be copied once per level
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
            # Inside a string the grammar counts the blanks before it to the expansion.
            bare = source.lstrip()
            if quoted and len(bare) < len(source):
                yield Text(source[: len(source) - len(bare)], quoted=True)
            yield _read_expansion(node, bare, quoted)
        case "process_substitution":
            yield Output("process", source, node.start_byte, quoted)
        case _:
            yield from _read_text(source, quoted)


def _flat_parts(node: Node, unit: Unit, *, quoted: bool) -> Iterator[Part]:
    """Parts of the children, and of what stands between them without a node of its own."""
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
    elif quoted:  # only these four can be escaped between double quotes
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
    """The text with the escapes of `$'...'`, `printf` and `echo -e` replaced."""

    def decode(found: re.Match[str]) -> str:
        digits = found["hex"] or found["u4"] or found["u8"]
        if digits or found["octal"]:
            code = int(digits, 16) if digits else int(found["octal"], 8)
            return chr(code) if code < 0x110000 else "\N{REPLACEMENT CHARACTER}"
        return _ANSI_C_LETTERS.get(found["letter"] or "", found["letter"] or "")

    return _ANSI_C.sub(decode, source)


MAXIMUM_LABEL = 60  # characters of a script's text that a message quotes


def show(word: Word) -> str:
    """The word as written, short and on one line, fit for a message to people."""
    text = word.span.unit.text(word.span.start, min(word.span.end, word.span.start + 400))
    is_quoted = len(text) > 2 and text[0] in "\"'" and text[-1] == text[0]
    if is_quoted and text.count(text[0]) == 2:
        text = text[1:-1]
    return show_text(text)


def show_text(text: str) -> str:
    """Any text of a script, short and on one line; what does not print is replaced."""
    line = " ".join(text.split())
    line = "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in line
    )
    return line if len(line) <= MAXIMUM_LABEL else line[: MAXIMUM_LABEL - 1] + "…"
