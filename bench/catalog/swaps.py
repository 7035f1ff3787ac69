"""Statements with one replaced literal. The former answer must no longer be a match."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from bench.catalog.asking import Query, Vectors, ask
from bench.catalog.held_out import Pair, Task, make_task
from catalog.relevance import RelevanceModel, judge_all
from catalog.types import Answer

EACH = 60  # number of swaps of each kind, and of unchanged statements, for each test part

# These rules deliberately differ from the product's rules. Otherwise, the check would repeat the product's errors.
_KINDS = {
    "quoted": re.compile(r"\"([^\"\s]{2,40})\"|'([^'\s]{2,40})'"),
    "path": re.compile(r"(?<![\w/.~])((?:~|\.{1,2})?/[\w./-]*[\w-])"),
    "pattern": re.compile(r"(?<![\w./])(\*\.\w+|\w+\*)(?![\w*])"),
    "file": re.compile(
        r"(?<![\w./*])(\w+\.(?:txt|log|sh|py|java|c|html|php|gz|tar|csv|xml|conf))\b"
    ),
    "number": re.compile(r"(?<![\w./-])(\d+)(?![\w./-])"),
}


# Patterns and replacements that reverse the meaning of a statement.
_TURNS = [
    (re.compile(pattern, re.IGNORECASE), instead)
    for pattern, instead in (
        (r"\bolder than\b", "newer than"),
        (r"\bnewer than\b", "older than"),
        (r"\b(?:larger|bigger|greater) than\b", "smaller than"),
        (r"\bmore than\b", "less than"),
        (r"\bless than\b", "more than"),
        (
            r"(?<!not )(?<!not been )\b(modified|accessed|changed) ((?:with)?in the last)\b",
            r"not \1 \2",
        ),
        (r"\bnot (modified|accessed|changed)\b", r"\1"),
        (r"(?<!non-)\bempty (files|directories)\b", r"non-empty \1"),
        (r"\bfirst (\d+ )?(lines?|characters?)\b", r"last \1\2"),
        (r"\blast (\d+ )?(lines?|characters?)\b", r"first \1\2"),
        (r"\bthat (?:contain|have|match)\b", "that do not contain"),
        (r"\b(?:copy|copies) (\S*[/.]\S*) to (\S+)", r"copy \2 to \1"),
        (r"\bcase.insensitiv", "case-sensitiv"),
        (r"\bascending\b", "descending"),
    )
]


class Found(NamedTuple):
    """A literal that a statement and its script share."""

    kind: str
    text: str
    start: int


class Swap(NamedTuple):
    """A pair whose statement has `new` in place of the literal `old`. Both are empty if no literal was replaced."""

    source: str  # unchanged, turned, catalogue or paraphrase
    pair: Pair
    old: str = ""
    new: str = ""


class Swapped(NamedTuple):
    """The result for a statement: whether it has a match, and whether the match is certainly wrong."""

    source: str
    statement: str
    script: str  # script of the first answer
    is_match: bool
    is_failure: bool


def ask_swapped(
    pairs: Sequence[Pair],
    vectors: Vectors,
    model: RelevanceModel,
    *,
    known: frozenset[int],
    asked: frozenset[int],
    seed: int,
) -> list[Swapped]:
    """Query statements with a replaced literal, with a reversed meaning, and unchanged."""
    task = make_task(pairs, known=known, asked=asked, seed=9000 + seed)
    dice = random.Random(seed)
    others = _others(pairs)
    shown = {pair.component for pair in task.catalogue}
    sources = {
        "catalogue": [pair for pair in task.catalogue if pair.component in asked],
        "paraphrase": [pair for pair in task.queries if pair.component in shown],
    }
    swaps = [Swap("unchanged", pair) for pair in dice.sample(sources["catalogue"], EACH)]
    for source, chosen in sources.items():
        possible = list(_swap(source, chosen, others, dice))
        swaps += dice.sample(possible, min(EACH, len(possible)))
    turned = [swap for chosen in sources.values() for pair in chosen for swap in _turn(pair)]
    swaps += dice.sample(turned, min(EACH, len(turned)))
    queries = ask(Task(task.catalogue, tuple(swap.pair for swap in swaps)), vectors, model.words)
    return [_judge(swap, query, model) for swap, query in zip(swaps, queries, strict=True)]


def read_literals(statement: str, script: str) -> Iterator[Found]:
    """Yield each distinct literal that the statement and the script share."""
    seen: set[str] = set()
    for kind, pattern in _KINDS.items():
        for match in pattern.finditer(statement):
            place = match.lastindex or 1
            text = match[place]
            if text not in seen and _stands_in(text, script):
                seen.add(text)
                yield Found(kind, text, match.start(place))


def _swap(
    source: str, pairs: Iterable[Pair], others: dict[str, list[str]], dice: random.Random
) -> Iterator[Swap]:
    """Yield pairs with a replaced literal. The new literal is neither in the original statement nor in its script."""
    for pair in pairs:
        for found in read_literals(pair.statement, pair.script):
            new, end = dice.choice(others[found.kind]), found.start + len(found.text)
            before, after = pair.statement[: found.start], pair.statement[end:]
            is_gone = not _stands_in(found.text, f"{before} {after}")
            if is_gone and not _stands_in(new, f"{pair.statement} {pair.script}"):
                yield Swap(source, pair._replace(statement=before + new + after), found.text, new)


def _turn(pair: Pair) -> Iterator[Swap]:
    """Yield the pair once for each pattern that reverses the statement's meaning."""
    for pattern, instead in _TURNS:
        turned = pattern.sub(instead, pair.statement, count=1)
        if turned != pair.statement:
            yield Swap("turned", pair._replace(statement=turned))


def _others(pairs: Sequence[Pair]) -> dict[str, list[str]]:
    """Return all pairs' literals by kind."""
    found = defaultdict(set)
    for pair in pairs:
        for literal in read_literals(pair.statement, pair.script):
            found[literal.kind].add(literal.text)
    return {kind: sorted(texts) for kind, texts in found.items()}


def _stands_in(text: str, where: str) -> bool:
    """Return whether `where` contains the text as a whole word."""
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", where) is not None


def _judge(swap: Swap, query: Query, model: RelevanceModel) -> Swapped:
    [first, *_] = judge_all(swap.pair.statement, query.asked.candidates, model)
    script = query.asked.candidates[first.place].script
    is_match = first.judgement.answer is Answer.MATCH
    if swap.source == "turned":
        is_wrong = query.asked.right[first.place]
    else:
        has_new = _stands_in(swap.new, script) and not _stands_in(swap.old, script)
        is_wrong = swap.source != "unchanged" and not has_new
    return Swapped(swap.source, swap.pair.statement, script, is_match, is_match and is_wrong)
