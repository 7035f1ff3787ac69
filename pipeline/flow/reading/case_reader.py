"""Read cases, and answers about failed checks, from replies in any mode.

This module decodes the JSON itself, because `find_objects` lowercases keys, and the names of variables and files are
case-sensitive. Invalid cases are dropped and listed in the note. A reply is unreadable only if no valid case is left.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from catalog.execution.cases import CaseRefused, CaseSet, read_case_set
from pipeline.flow.reading.markup import drop_thinking, find_blocks, find_objects
from pipeline.flow.reading.replies import stopped
from pipeline.types import CaseAnswer, ReadingOutcome, Reply

MOST_CASES = 12  # from one reply; more would take too long in the sandbox
_ANSWERS = ("keep", "mend", "open")
_LONGEST_NOTE = 600


@dataclass(frozen=True)
class CasesReading:
    """The cases in a reply. If the reply has no cases, `note` may give the model's reason."""

    outcome: ReadingOutcome
    case_set: CaseSet | None = None
    note: str = ""


@dataclass(frozen=True)
class AnswersReading:
    """The author's answer for each check, and the corrected cases by number."""

    outcome: ReadingOutcome
    answers: tuple[CaseAnswer, ...] = ()
    mended: tuple[tuple[int, object], ...] = ()
    note: str = ""


def read_cases(reply: Reply, *, statement: str = "", author: str = "a model") -> CasesReading:
    """Return the cases in a reply. An empty list is valid and means that the model can't write cases."""
    why = stopped(reply)
    if why:
        return CasesReading(why)
    found = _find_list(reply, "cases")
    if found is None:
        return CasesReading(ReadingOutcome.UNPARSED, note="it contains no list of cases")
    items, note = found
    if not items:
        return CasesReading(ReadingOutcome.READ, note=note[:_LONGEST_NOTE])
    case_set, refused = make_case_set(items[:MOST_CASES], statement=statement, author=author)
    if len(items) > MOST_CASES:
        refused.append(f"Only the first {MOST_CASES} are used.")
    said = " ".join(refused)[:_LONGEST_NOTE]
    if case_set is None:
        return CasesReading(ReadingOutcome.UNPARSED, note=f"none of its cases can be used: {said}")
    return CasesReading(ReadingOutcome.READ, case_set, said)


def read_answers(reply: Reply) -> AnswersReading:
    """Return the answers about checks, by check name. Unknown answers are ignored."""
    why = stopped(reply)
    if why:
        return AnswersReading(why)
    found = _find_list(reply, "answers")
    if found is None:
        return AnswersReading(ReadingOutcome.UNPARSED, note="it contains no list of answers")
    answers: dict[str, CaseAnswer] = {}
    mended: dict[int, object] = {}
    for item in found[0]:
        if not isinstance(item, dict):
            continue
        check, answer = str(item.get("check", "")).strip(), str(item.get("answer", "")).lower()
        number = check.partition(".")[0]
        if answer not in _ANSWERS or not number.isdecimal() or len(number) > 4:
            continue
        if answer == "mend":
            if not isinstance(item.get("case"), dict):
                continue
            mended[int(number)] = item["case"]
        answers.setdefault(check, CaseAnswer(check, answer, str(item.get("why", ""))[:500]))
    if found[0] and not answers:
        return AnswersReading(ReadingOutcome.UNPARSED, note="it mentions no check")
    return AnswersReading(ReadingOutcome.READ, tuple(answers.values()), tuple(mended.items()))


def make_case_set(
    items: Sequence[object], *, statement: str, author: str
) -> tuple[CaseSet | None, list[str]]:
    """Return a case set of the valid cases (None if no case is valid), and why the other cases are invalid."""
    kept: list[object] = []
    refused: list[str] = []
    for number, item in enumerate(items, 1):
        try:
            _read([*kept, item], statement, author)
        except CaseRefused as error:
            refused.append(f"Case {number}: {' '.join(error.complaints[:2])}")
        else:
            kept.append(item)
    return (_read(kept, statement, author) if kept else None), refused


def _read(items: Sequence[object], statement: str, author: str) -> CaseSet:
    data = {
        "format": 1,
        "statement": statement,
        "parameters": {},
        "author": {"kind": "model", "name": author},
        "cases": items,
    }
    return read_case_set(json.dumps(data))


def _find_list(reply: Reply, key: str) -> tuple[list[object], str] | None:
    """Return the first list under the key in a reply in any mode, and the note next to the list."""
    for value, note in _find_values(reply, key):
        items = _as_list(value, key)
        if items is not None:
            return items, note
    return None


def _find_values(reply: Reply, key: str) -> Iterator[tuple[object, str]]:
    if reply.tool_input is not None:
        yield from _values_of(reply.tool_input, key)
    text = drop_thinking(reply.text)
    for found in find_objects(text, key):
        yield from _values_of(_decode(text[found.start : found.end]), key)
    for block in find_blocks(text):
        yield _decode(block.content), ""
    yield _decode(text), ""


def _values_of(value: object, key: str) -> Iterator[tuple[object, str]]:
    """Yield each value under the key in an object and its nested objects, with the note next to the value.

    Some models nest the arguments of tool calls.
    """
    if not isinstance(value, dict):
        return
    for holder in (value, *(one for one in value.values() if isinstance(one, dict))):
        for name, inner in holder.items():
            if name.strip().lower() == key:
                note = holder.get("note")
                yield inner, note.strip() if isinstance(note, str) else ""


def _as_list(value: object, key: str) -> list[object] | None:
    """Return the list in a value: a list, its JSON text, or the JSON text of an object with the list under the key."""
    if isinstance(value, str):
        value = _decode(value)
        if isinstance(value, dict):
            value = next((inner for inner, _note in _values_of(value, key)), None)
    return value if isinstance(value, list) else None


def _decode(text: str) -> object:
    text = text.strip()
    if text.startswith("```"):
        text = text.partition("\n")[2].rpartition("```")[0]
    try:
        value: object = json.loads(text, strict=False)
    except (json.JSONDecodeError, RecursionError):
        return None
    return value
