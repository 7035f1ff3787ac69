"""Explain a comparison to users in short sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from catalog.relevance.comparison import TELLING_AXES, Comparison
from catalog.relevance.statement.actions import agreeing, say
from catalog.relevance.statement.literals import Literal
from catalog.relevance.statement.token_shapes import Kind
from catalog.relevance.types import Candidate, Difference, Reason

_MOST = 8  # sentences of each type
_LONGEST = 60  # characters of a literal
_CLOSE = 0.8  # lowest cosine at which the wording is called similar
_AXES = {"age": "the age", "order": "the order", "size": "the size"}
_MARKS = {
    "age:older": "older",
    "age:newer": "newer",
    "age:exact": "an exact age",
    "not:yes": "a negation",
    "except:yes": "an exception",
    "size:more": "larger",
    "size:less": "smaller",
    "than:more": "more",
    "than:less": "less",
    "amount:more": "more",
    "amount:less": "less",
    "time:access": "access time",
    "time:change": "change time",
    "time:create": "creation time",
    "case:any": "case-insensitive",
    "fill:empty": "empty items",
    "fill:full": "non-empty items",
    "sight:hidden": "hidden items",
    "sight:plain": "visible items",
    "order:up": "ascending order",
    "order:down": "descending order",
    "place:begin": "the beginning of a name",
    "place:end": "the end of a name",
}


def reasons(comparison: Comparison, candidate: Candidate) -> tuple[Reason, ...]:
    """Return the reasons in favor of the candidate."""
    return tuple(_reasons(comparison, candidate))[:_MOST]


def differences(comparison: Comparison) -> tuple[Difference, ...]:
    """Return the differences that speak against the candidate, most serious first."""
    return tuple(_differences(comparison))[:_MOST]


def _reasons(comparison: Comparison, candidate: Candidate) -> Iterator[Reason]:
    literals = comparison.literals
    if comparison.is_identical:
        yield Reason("identical", "identical wording")
    elif candidate.cosine >= _CLOSE:
        yield Reason("cosine", f"similar phrasing (cosine {candidate.cosine:.2f})")
    for mine, theirs in literals.same:
        yield Reason("literal", f"same {_kind(theirs)} {_quote(mine.text)}")
    for name, value in literals.fills.items():
        yield Reason("fill", f"sets {name} to {_quote(value)}")
    for literal in literals.explained:
        yield Reason("script", f"{_quote(literal.text)} is in the script or in another phrasing")
    shared = agreeing(comparison.statement.actions, comparison.phrasing.actions)
    if shared and not comparison.is_contrary:
        yield Reason("verb", f"same action: {say(shared)}")


def _differences(comparison: Comparison) -> Iterator[Difference]:
    if comparison.is_contrary:
        mine, theirs = say(comparison.statement.actions), say(comparison.phrasing.actions)
        yield Difference("verb", f"the request asks to {mine}, the entry to {theirs}")
    yield from _turns(comparison)
    yield from _literals(comparison)
    if comparison.turned:
        some, others = map(_quote, comparison.turned)
        yield Difference("side", f"{some} and {others} are swapped")
    for axis in sorted(comparison.half_agreed):
        yield Difference("direction", f"only one of them has two conditions on {_AXES[axis]}")
    if comparison.denied:
        yield Difference("negation", f"only one of them negates {_quote(comparison.denied)}")
    if comparison.other_order:
        yield Difference("direction", "the script sorts in the opposite order")
    for literal in comparison.other_roles:
        text = f"{_quote(literal.text)} refers to something else in the entry"
        yield Difference("literal", text, (literal.start, literal.end))
    for literal in comparison.other_units:
        text = f"{_quote(literal.text)} counts something else in the entry"
        yield Difference("literal", text, (literal.start, literal.end))
    for word in comparison.other_letters:
        yield Difference("literal", f"the script has {_quote(word)} in a different case")
    if comparison.unoffered and not comparison.is_contrary:
        yield Difference("action", f"the request also asks to {say(comparison.unoffered)}")
    if comparison.unasked and not comparison.is_contrary:
        yield Difference("action", f"the entry also asks to {say(comparison.unasked)}")
    if comparison.other_reach:
        yield Difference("reach", "only one of them works recursively or also on files")
    if comparison.other_scope and not comparison.literals.conflicts:
        yield Difference(
            "scope", "the script covers other places or files than requested, or leaves some out"
        )
    yield from _notes(comparison)


def _turns(comparison: Comparison) -> Iterator[Difference]:
    for mine, theirs in comparison.opposed_marks:
        yield Difference("direction", f"the request says {_mark(mine)}, the entry {_mark(theirs)}")
    for axis in sorted(comparison.lone_axes & TELLING_AXES):
        for marks, who in (
            (comparison.statement.marks, "only in the request:"),
            (comparison.phrasing.marks, "only in the entry:"),
        ):
            for mark in sorted(mark for mark in marks if mark.startswith(f"{axis}:")):
                yield Difference(
                    "negation" if axis in ("not", "except") else "detail", f"{who} {_mark(mark)}"
                )
    if comparison.other_objects:
        mine, theirs = _plurals(comparison.statement.objects), _plurals(comparison.phrasing.objects)
        yield Difference("object", f"the request is about {mine}, the entry about {theirs}")


def _literals(comparison: Comparison) -> Iterator[Difference]:
    literals = comparison.literals
    for mine, theirs in literals.differing:
        text = f"the request has {_quote(mine.text)}, the entry {_quote(theirs.text)}"
        yield Difference("literal", text, (mine.start, mine.end))
    for mine, _ in literals.misplaced:
        text = f"{_quote(mine.text)} is the source in one of them and the target in the other"
        yield Difference("side", text, (mine.start, mine.end))
    for literal in literals.extra:
        text = f"the entry does not mention {_quote(literal.text)}"
        yield Difference("literal", text, (literal.start, literal.end))
    for literal in literals.missing:
        yield Difference("literal", f"the request does not mention {_quote(literal.text)}")


def _notes(comparison: Comparison) -> Iterator[Difference]:
    literals = comparison.literals
    for parameter, literal in literals.defaulted:
        yield Difference("default", f"{parameter.name} stays {_quote(literal.text)} unless set")
    for parameter in literals.unfilled:
        yield Difference("unfilled", f"{parameter.name} must be filled in")
    for literal in literals.loose_extra:
        text = f"only in the request: {_quote(literal.text)}"
        yield Difference("word", text, (literal.start, literal.end))
    for literal in literals.loose_missing:
        yield Difference("word", f"only in the entry: {_quote(literal.text)}")
    if comparison.is_one_sided:
        for words, who in (
            (comparison.only_statement, "request"),
            (comparison.only_entry, "entry"),
        ):
            for word in sorted(words - _loose_values(comparison)):
                yield Difference("word", f"only in the {who}: {_quote(word)}")
    if comparison.statement.is_cut:
        yield Difference("length", "the request is too long to compare in full")


def _loose_values(comparison: Comparison) -> frozenset[str]:
    literals = comparison.literals
    return frozenset(item.value for item in (*literals.loose_extra, *literals.loose_missing))


def _kind(literal: Literal) -> str:
    if literal.kind == Kind.NAME and literal.role:
        return literal.role
    return {Kind.GLOB: "pattern", Kind.MODE: "permissions"}.get(literal.kind, literal.kind.value)


def _mark(mark: str) -> str:
    return _MARKS.get(mark, mark.partition(":")[2])


def _plurals(objects: Iterable[str]) -> str:
    irregular = {"directory": "directories", "process": "processes", "branch": "branches"}
    irregular |= {"memory": "memory", "cpu": "the CPU"}
    return " and ".join(irregular.get(name, f"{name}s") for name in sorted(objects))


def _quote(text: str) -> str:
    """Return a literal on one line, shortened if it is long."""
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
