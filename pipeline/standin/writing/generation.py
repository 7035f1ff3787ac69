"""Write a script for a statement by adapting an example or by rule, or say why neither is possible."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pipeline.standin.description.script_description import describe
from pipeline.standin.language.bounds import take_bounds
from pipeline.standin.language.coverage import (
    NEGATIONS,
    is_for_later,
    is_foreign,
    list_negations,
    list_unplaced,
    take_verbs,
)
from pipeline.standin.language.literals import Mention, find_mentions, without_mentions
from pipeline.standin.language.marked_text import MarkedText
from pipeline.standin.language.statement_comparison import (
    allowed_verbs,
    content_words,
    find_verbs,
    list_differences,
    list_requirements,
    list_unasked,
    missing_literals,
    stem,
)
from pipeline.standin.writing.example_adapter import adapt_script
from pipeline.standin.writing.script_writer import list_attempts

AT_A_LOSS = (
    "The demo model does not know how to do this. It writes scripts for the demo's own requests, and "
    "small scripts about files, logs, services and containers from requests in English. For anything "
    "else, use another model."
)
_FOREIGN = "This request does not seem to be in English."
_FOR_LATER = "It does not write scripts that run later or repeatedly."
_NO_ORDER = "This request does not say what to do."

# An example fits if it shares this much of the statement's subject.
_ON_TOPIC = 0.5
_MOST_WORDS = 5
# For these verbs, an unrequested restriction is as wrong as a missing one.
_LOSING = {"delete", "kill", "move", "truncate"}
_READING = {"find", "count", "check", "sort", "calculate"}
# Words of an example that a literal of a statement may replace.
_PLACEHOLDERS = content_words(
    "number days hours minutes weeks months age size directory directories folder path file name service unit systemd "
    "given certain specific pattern text host package"
)
_SOFT = {"only", "but", "instead", "rather"}
_SIDES = r"\b(?:more|less) than .{1,14} ago\b|\b(?:larger|smaller) than\b"

Example = tuple[str, str]


class Generated(NamedTuple):
    """A script, or the reason why none could be written."""

    script: str
    why_not: str = ""


class _Candidate(NamedTuple):
    """A possible script, the words that it does not cover, and its differences from the statement."""

    script: str
    unplaced: Sequence[str]
    differences: Sequence[str]
    unasked: int

    @property
    def is_good(self) -> bool:
        return not self.unplaced and not self.differences


def generate_script(statement: str, examples: Sequence[Example]) -> Generated:
    """Return a script that does exactly what the statement says, or the reason for a refusal."""
    reason = _why_at_all(statement)
    if reason:
        return _refuse(reason)
    candidates = [*_adapt(statement, examples), *_write(statement)]
    good = [candidate for candidate in candidates if candidate.is_good]
    if good:  # Among equals, take the first, because examples come before rules.
        return Generated(min(good, key=lambda candidate: candidate.unasked).script)
    return _refuse(_say_what_is_wrong(candidates))


def _refuse(reason: str) -> Generated:
    return Generated("", f"{AT_A_LOSS} {reason}".strip())


def _why_at_all(statement: str) -> str:
    """Return why no script can satisfy the statement, or ""."""
    if is_foreign(statement):
        return _FOREIGN
    if is_for_later(statement):
        return _FOR_LATER
    return "" if len(re.findall(r"\w+", statement)) > 1 else _NO_ORDER


def _adapt(statement: str, examples: Sequence[Example]) -> Iterator[_Candidate]:
    for example, script in examples:
        functionality = describe(script)
        if not _is_on_topic(statement, example, functionality):
            continue
        adapted = adapt_script(script, example=example, statement=statement)
        does = describe(adapted)
        text = MarkedText(statement)
        bounded = take_bounds(text)
        turned = list_negations(text)
        # The words in a path say nothing about its contents.
        said = f"{without_mentions(example)} {without_mentions(does)}"
        known = re.findall(r"[^\W\d_]+", said.lower())
        take_verbs(text)
        unplaced = [
            word
            for word in list_unplaced(text, [word for word in known if word not in NEGATIONS])
            if word not in NEGATIONS
        ]
        unplaced += sorted(turned ^ _negations_of(example, turned))
        measured = {one.kind for one in text.mentions} & {"age", "size"}
        if re.search(_SIDES, does) and measured - {bound.mention.kind for bound in bounded}:
            unplaced += [one.text for one in text.left() if one.kind in measured]
        if "systemctl" in adapted:
            unplaced += [one.text for one in text.mentions if _is_like_a_host(one)]
        yield _judge(statement, adapted, does, unplaced, _still_there(statement, example, does))


def _is_like_a_host(mention: Mention) -> bool:
    """Return whether a bare name ends with a number, as host names do and units do not."""
    return mention.kind == "name" and not mention.noun and bool(re.search(r"-\d+$", mention.text))


def _negations_of(example: str, turned: set[str]) -> set[str]:
    """Return the negations in an example. Words such as "only" count only if the statement has them too."""
    text = MarkedText(example)
    take_bounds(text)
    found = list_negations(text)
    return {word for word in found if word not in _SOFT or word in turned}


def _still_there(statement: str, example: str, does: str) -> list[str]:
    """List restrictions of the example, or of a destructive script's defaults, that the statement lacks."""
    left = missing_literals(find_mentions(example), statement)
    kept = [one.text for one in left if one not in missing_literals([one], does)]
    if find_verbs(statement) & _LOSING:
        kept += [one.text for one in list_unasked(statement, does) if one.kind != "name"]
    return [f"the script says {text}, but the request does not" for text in dict.fromkeys(kept)]


def _write(statement: str) -> Iterator[_Candidate]:
    for attempt in list_attempts(statement):
        yield _judge(statement, attempt.body, describe(attempt.body), attempt.unplaced, ())


def _judge(
    statement: str, script: str, does: str, unplaced: Sequence[str], more: Sequence[str]
) -> _Candidate:
    differences = [*list_differences(statement, does), *more]
    return _Candidate(script, unplaced, differences, len(list_unasked(statement, does)))


def _is_on_topic(statement: str, example: str, functionality: str) -> bool:
    """Return whether an example performs the same kind of action on the same kind of object."""
    if not find_verbs(statement) <= find_verbs(example) and _lacks_verb(statement, functionality):
        return False
    if _does_more(statement, example):
        return False
    subject = content_words(without_mentions(statement))
    if not subject:
        return bool(find_mentions(statement))
    shared = subject & content_words(f"{example} {functionality}")
    return len(shared) >= _ON_TOPIC * len(subject)


def _does_more(statement: str, example: str) -> bool:
    """Return whether an example covers other subjects: any if it changes something, over half if it only reads."""
    changes = find_verbs(example) - _READING
    if changes - allowed_verbs(statement):
        return True
    subject = content_words(without_mentions(example)) - _PLACEHOLDERS
    said = {stem(word) for word in re.findall(r"[^\W\d_]+", statement.lower())}
    more = subject - said
    return bool(more) if changes else len(more) > _ON_TOPIC * len(subject)


def _lacks_verb(statement: str, functionality: str) -> bool:
    required = list_requirements(statement, functionality)
    return any(found.missing for found in required if found.kind == "verb")


def _say_what_is_wrong(candidates: Sequence[_Candidate]) -> str:
    """Describe what the best candidate does not cover or would do wrong."""
    best = min(candidates, key=lambda one: (len(one.unplaced), len(one.differences)), default=None)
    if best is None:
        return ""
    if best.unplaced:
        words = ", ".join(f'"{word}"' for word in dict.fromkeys(best.unplaced[:_MOST_WORDS]))
        return f"It does not understand {words} here."
    return f"Its best script would not match: {best.differences[0]}."
