"""Find the effects of known tools by subcommand and option, using the rules in rules.txt and AWS's own table of
actions.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path

from catalog.analysis.risk.aws import find_aws_effect
from catalog.analysis.risk.effects import Effect
from catalog.analysis.risk.rule_data import Block, read_blocks
from catalog.analysis.shell.arguments import Arguments, read_arguments
from catalog.analysis.shell.command_words import Word, literal_word, show
from catalog.analysis.shell.commands import Command
from catalog.analysis.shell.fragments import Span, Unit
from catalog.analysis.shell.program import Program
from catalog.analysis.tables import WORDS, word_map

_RULES_FILE = Path(__file__).with_name("rules.txt")


@dataclass(frozen=True, slots=True)
class _Choices:
    """The words that a rule allows at one position, such as `a|b|c-*`."""

    words: frozenset[str]
    patterns: tuple[str, ...]

    @classmethod
    def read(cls, text: str) -> _Choices:
        choices = text.lower().split("|")
        patterns = tuple(choice for choice in choices if set(choice) & set("*?["))
        return cls(frozenset(choices).difference(patterns), patterns)

    def fit(self, word: str) -> bool:
        return word in self.words or any(fnmatchcase(word, one) for one in self.patterns)


@dataclass(frozen=True, slots=True, eq=False)
class ToolRule:
    """A rule for a tool: operands in order, options of which at least one must be given, and options that exclude the
    rule.
    """

    block: Block
    operands: tuple[_Choices | None, ...]  # None allows any number of operands
    options: tuple[tuple[str, _Choices | None], ...]  # names, with patterns for their values
    excluded: frozenset[str]  # `-o` and words

    @classmethod
    def read(cls, block: Block) -> ToolRule:
        words = block.head.split()[1:]
        options = [word.lstrip("-").partition("=") for word in words if word[0] == "-"]
        return cls(
            block,
            tuple(None if w == "..." else _Choices.read(w) for w in words if w[0] not in "-!"),
            tuple((name, _Choices.read(value) if sign else None) for name, sign, value in options),
            frozenset(word[1:].replace("--", "-") for word in words if word[0] == "!"),
        )

    def rest(self, given: _Given) -> tuple[Word, ...] | None:
        """Return the operands that follow the rule's operands, or None if the rule does not match."""
        arguments = given.arguments
        if self.excluded and not self.excluded.isdisjoint(given.marks):
            return None
        if self.options and not any(
            fnmatchcase(name, known) and (values is None or values.fit(_text(value)))
            for name, value in arguments.options
            for known, values in self.options
        ):
            return None
        reached = {0}
        for place, (word, may_be_value) in enumerate(given.operands):
            if len(self.operands) in reached:
                return arguments.operands[max(place - given.added, 0) :]
            reached = {
                place for at in reached for place in self._after(at, _text(word), may_be_value)
            }
        return arguments.operands[:0] if len(self.operands) in reached else None

    def _after(self, at: int, word: str, may_be_value: bool) -> Iterator[int]:
        choices = self.operands[at] if at < len(self.operands) else None
        if choices is None and at + 1 < len(self.operands):
            following = self.operands[at + 1]
            if following and following.fit(word):
                yield at + 2
        elif choices and choices.fit(word):
            yield at + 1
        if choices is None or may_be_value:
            yield at


@dataclass(frozen=True, slots=True)
class _Given:
    """A command's arguments, and for each operand whether it may be the value of an unknown option."""

    arguments: Arguments
    operands: tuple[tuple[Word, bool], ...]
    added: int  # operands that the tool's name implies: docker-compose is `docker compose`

    @property
    def marks(self) -> set[str]:
        """Return the options, as `-name`, and the operands."""
        words = {_text(word) for word, _ in self.operands}
        return words.union(f"-{name}" for name in self.arguments.names)


ALIASES = word_map("aliases")
_COMPOSE = frozenset({"docker-compose", "podman-compose"})
_SHORT = word_map("valued-letters")
_DRY_SHORT = word_map("dry-run-letters")


def read_tool_arguments(command: Command) -> Arguments:
    """Return the parsed arguments of a tool with subcommands."""
    name = ALIASES.get(command.name, command.name)
    return read_arguments(
        command.arguments,
        short=_SHORT.get(name, ""),
        long=WORDS["valued-options"],
        single_dash=name in WORDS["single-dash"],
    )


def is_dry_run(name: str, arguments: Arguments) -> bool:
    """Return whether an option makes the command a dry run. `--dry-run=none` does not."""
    values = [value for option, value in arguments.options if option in WORDS["dry-run"]]
    if values:  # a value known only at run time is not a dry run
        return values[-1] is None or _text(values[-1]) not in WORDS["no-dry-run"] | {""}
    if name == "git" and WORDS["git-dry-run"].isdisjoint(arguments.subcommands[:1]):
        return False
    return arguments.has(*_DRY_SHORT.get(ALIASES.get(name, name), ""))


def find_subcommand_effects(command: Command, program: Program) -> Iterator[Effect]:
    """Yield the effect of the first rule that matches the command."""
    arguments = read_tool_arguments(command)
    if command.name in program.functions or is_dry_run(command.name, arguments):
        return
    if found := _first_rule(command, arguments, RULES):
        rule, rest = found
        message = rule.block.message
        given = arguments.operands
        for mark, words in (("«it»", rest), ("«first»", given[:1]), ("«last»", given[-1:])):
            if mark in message:
                otherwise = "a target chosen at run time" if mark == "«it»" else "a disk"
                message = message.replace(mark, _show_words(words) or otherwise)
        yield Effect(rule.block.code, rule.block.level, message, command.span)
    elif command.name == "aws":
        yield from find_aws_effect(command, arguments)


def _first_rule(
    command: Command, arguments: Arguments, by_tool: Mapping[str, tuple[ToolRule, ...]]
) -> tuple[ToolRule, tuple[Word, ...]] | None:
    rules = by_tool.get(ALIASES.get(command.name, command.name), ())
    if not rules:
        return None
    after_option = {
        id(word)
        for option, word in pairwise(command.arguments)
        if option.prefix[:1] == "-"
        and option.prefix not in ("-", "--")
        and "=" not in option.prefix
    }
    operands = [(word, id(word) in after_option) for word in arguments.operands]
    added = command.name in _COMPOSE
    if added:
        operands.insert(0, (literal_word("compose", command.span), False))
    given = _Given(arguments, tuple(operands), added)
    fitting = ((rule, rule.rest(given)) for rule in rules)
    return next(((rule, rest) for rule, rest in fitting if rest is not None), None)


def _text(word: Word | None) -> str:
    return (word.literal or "").lower() if word else ""


def _show_words(words: tuple[Word, ...]) -> str:
    shown = " ".join(show(word) for word in words[:4])
    return f"{shown} …" if len(words) > 4 else shown


def read_rules(text: str, source: str) -> dict[str, tuple[ToolRule, ...]]:
    """Return the rules by program. Raises RuleError for a rule that has no examples or contradicts an example."""
    by_tool: dict[str, list[ToolRule]] = {}
    rules = [ToolRule.read(block) for block in read_blocks(text)]
    for rule in rules:
        tools = (ALIASES.get(tool, tool) for tool in rule.block.head.split()[0].split("|"))
        for tool in dict.fromkeys(tools):
            by_tool.setdefault(tool, []).append(rule)
    read = {tool: tuple(found) for tool, found in by_tool.items()}
    for rule in rules:
        rule.block.check(source, lambda example, rule=rule: _fits_example(rule, example, read))  # type: ignore[misc]
    return read


def _fits_example(rule: ToolRule, example: str, rules: dict[str, tuple[ToolRule, ...]]) -> bool:
    """Return whether the rule is the first rule that matches the example command."""
    words = shlex.split(example) if set(example) & set("\"'\\") else example.split()
    span = Span(Unit(b""), 0, 0)
    command = Command(tuple(literal_word(word, span) for word in words), span)
    arguments = read_tool_arguments(command)
    found = None if is_dry_run(command.name, arguments) else _first_rule(command, arguments, rules)
    return bool(found and found[0] is rule)


RULES = read_rules(_RULES_FILE.read_text("utf-8"), _RULES_FILE.name)
