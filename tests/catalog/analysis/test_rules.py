"""Tests that each rule in the rule files has examples and that no example contradicts its rule."""

from __future__ import annotations

import pytest

from catalog.analysis.risk.rule_data import RuleError
from catalog.analysis.risk.subcommands import RULES, read_rules

RULE = "[destructive warning]\ntool remove\n  Deletes «it».\n"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (RULE, r"data.txt: the rule 'tool remove' needs a line with \+ and one with -"),
        (f"{RULE}  + tool remove a\n", "'tool remove' needs"),
        (f"{RULE}  - tool list\n", "'tool remove' needs"),
        (f"{RULE}  + tool list\n  - tool add\n", "'tool remove' should fit 'tool list'"),
        (f"{RULE}  + tool remove\n  - tool list ; tool remove a\n", "should not fit 'tool remove a'"),
        (f"{RULE}  + tool remove --dry-run\n  - tool\n", "should fit 'tool remove --dry-run'"),
    ],
)  # fmt: skip
def test_rule_without_or_against_its_examples_is_refused(text: str, problem: str) -> None:
    with pytest.raises(RuleError, match=problem):
        read_rules(text, "data.txt")


def test_rule_hidden_by_an_earlier_rule_is_refused() -> None:
    hidden = (
        f"{RULE}  + tool remove\n  - tool\ntool remove all\n  X.\n  + tool remove all\n  - tool\n"
    )
    with pytest.raises(RuleError, match="'tool remove all' should fit"):
        read_rules(hidden, "data.txt")


def test_messages_are_sentences_that_end() -> None:
    rules = {id(rule): rule for found in RULES.values() for rule in found}.values()
    assert len(rules) > 400
    assert not [r.block.head for r in rules if not r.block.message.endswith(".")]
