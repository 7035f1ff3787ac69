"""Parse a row of items: a statement, and a model's result from another system."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from typing import NamedTuple

from pipeline.types import Verdict
from review.exchange.rows.values import (
    RowProblem,
    answers_of,
    choice_of,
    count_of,
    flag_of,
    key_of,
    lack_of,
    name_of,
    objects_of,
    share_of,
    text_of,
)

MOST_ID = 200
MOST_STATEMENT = 4_000
MOST_CONTEXT = 40_000
MOST_SCRIPT = 1_000_000
MOST_FEEDBACK = 8_000
MOST_CONFIGURATION = 80
MOST_PERSON = 150
_VERDICTS = tuple(verdict.value for verdict in Verdict)
_REASONS = ("different_interpretation", "too_strict", "wrong_expected_output", "other")
# The origin of the first Draft.
RETRIEVED = "retrieved"
_MADE = ("imported", "generated", "repaired", RETRIEVED, "failed")
_MOST_EXPERTS = 100
_MOST_ROUNDS = 100
# The purposes of items that show another item again.
AGAIN = ("repeat", "halo")
_PURPOSES = ("real", "gold", "training", *AGAIN)
_RECOMMENDED = ("first", "refined", "other", "none")


class CaseRow(NamedTuple):
    """A statement with its context, which is the same for every configuration."""

    external_id: str
    statement: str
    incident: str
    environment: str
    reference: str
    severity: int
    target: str
    impact: str
    purpose: str
    known: dict[str, object]
    # For a repeat or halo check, the ID of the original case.
    repeats: str = ""

    @property
    def sha256(self) -> str:
        """Return the hash of all fields except the two IDs. The hash is recalculated on each access."""
        return _hash(self[1:-1])


class Expert(NamedTuple):
    """An expert's feedback on the first script, and the script refined from it."""

    author: str
    feedback: str
    refined: str


class Later(NamedTuple):
    """A later round of the model: feedback on the previous Draft, and the script refined from it."""

    round: int
    feedback: str
    refined: str
    is_recommended: bool


class ItemRow(NamedTuple):
    """A configuration's result. The texts are empty if only labels are known."""

    configuration: str
    script: str
    feedback: str
    refined: str
    verdict: str
    execution: float | None
    execution_reason: str
    overlap: int | None
    closed: bool
    sham: bool
    made: str
    recommended: str
    no_error_found: bool
    demo: bool
    experts: tuple[Expert, ...] = ()
    withdrawn: bool = False
    later: tuple[Later, ...] = ()
    called_in: int = 0
    pilot: bool = False

    @property
    def sha256(self) -> str:
        """Return the hash of all fields except the configuration.

        The last five fields were added later and are included only if set, so that old hashes remain valid.
        """
        return _hash(self[1:-5] + tuple(later for later in self[-5:] if later))

    @property
    def has_result(self) -> bool:
        """Return whether the row has a result to review or count.

        Otherwise, the case needs a run in this installation.
        """
        return bool(self.script or self.verdict or self.made) or self.execution is not None


def read_item(values: dict[str, object]) -> tuple[CaseRow, ItemRow]:
    """Return the row's case and item after strict validation. Raises RowProblem."""
    case, item = _read_case(values), _read_result(values)
    if not item.script and (item.feedback or item.refined or item.experts):
        raise RowProblem("the row has feedback or a refined script but no script", column="script")
    if item.later and not item.refined:
        raise RowProblem("the row has later rounds but no refined script", column="later")
    if item.script and item.made == "failed":
        raise RowProblem("the row has a script, so it can't be failed", column="made")
    return case, item


def content_of(case: CaseRow, item: ItemRow) -> tuple[str, str]:
    """Return the hashes that identify the content of the case and of the item.

    A repeat or halo check is a case with exactly one item. The case and the item have the same hash.
    """
    if case.repeats:
        both = _hash((case.sha256, case.repeats, item.configuration, item.sha256))
        return both, both
    return case.sha256, item.sha256


def _read_case(values: dict[str, object]) -> CaseRow:
    statement = text_of(values, "statement", most=MOST_STATEMENT).strip()
    if not statement:
        raise lack_of(values, "statement")
    reference = text_of(values, "reference", most=MOST_CONTEXT)
    external_id = key_of(values, "id", most=MOST_ID)
    purpose = choice_of(values, "purpose", _PURPOSES) or "real"
    return CaseRow(
        external_id=external_id or id_of(statement, reference),
        statement=statement,
        incident=text_of(values, "context", most=MOST_CONTEXT),
        environment=text_of(values, "environment", most=MOST_CONTEXT),
        reference=reference,
        severity=count_of(values, "severity", least=1, most=4) or 3,
        target=text_of(values, "target", most=300),
        impact=text_of(values, "impact", most=500),
        purpose=purpose,
        known=answers_of(values, "known"),
        repeats=key_of(values, "repeats", most=MOST_ID) if purpose in AGAIN else "",
    )


def _read_result(values: dict[str, object]) -> ItemRow:
    made = choice_of(values, "made", _MADE)
    script = text_of(values, "script", most=MOST_SCRIPT)
    return ItemRow(
        configuration=name_of(values, "configuration", most=MOST_CONFIGURATION) or "imported",
        script=script if script.strip() else "",
        feedback=text_of(values, "feedback", most=MOST_FEEDBACK).strip(),
        refined=text_of(values, "refined", most=MOST_SCRIPT),
        verdict=choice_of(values, "verdict", _VERDICTS),
        execution=share_of(values, "execution"),
        execution_reason=choice_of(values, "execution_reason", _REASONS),
        overlap=count_of(values, "overlap", least=1, most=32_767),
        called_in=count_of(values, "called_in", least=0, most=32_767) or 0,
        closed=flag_of(values, "closed", default=False),
        sham=flag_of(values, "sham", default=False),
        made="" if made in ("imported", "generated") else made,
        recommended=choice_of(values, "recommended", _RECOMMENDED),
        no_error_found=flag_of(values, "no_error_found", default=False),
        demo=flag_of(values, "demo", default=False),
        experts=tuple(
            _read_expert(one) for one in objects_of(values, "experts", most=_MOST_EXPERTS)
        ),
        withdrawn=flag_of(values, "withdrawn", default=False),
        later=_read_later(values),
        pilot=flag_of(values, "pilot", default=False),
    )


def _read_later(values: dict[str, object]) -> tuple[Later, ...]:
    found = tuple(
        Later(
            count_of(one, "round", least=2, most=_MOST_ROUNDS) or 0,
            text_of(one, "feedback", most=MOST_FEEDBACK).strip(),
            text_of(one, "refined", most=MOST_SCRIPT),
            flag_of(one, "recommended", default=False),
        )
        for one in objects_of(values, "later", most=_MOST_ROUNDS)
    )
    rounds = [one.round for one in found]
    if rounds != sorted(set(rounds)) or not all(one.round and one.refined for one in found):
        raise RowProblem(
            "must be ascending rounds from 2, each with a refined script", column="later"
        )
    return found


def _read_expert(values: dict[str, object]) -> Expert:
    author = name_of(values, "author", most=MOST_PERSON)
    feedback = text_of(values, "feedback", most=MOST_FEEDBACK).strip()
    if not (author and feedback):
        raise RowProblem("an expert needs an author and feedback", column="experts")
    return Expert(author, feedback, text_of(values, "refined", most=MOST_SCRIPT))


def id_of(statement: str, reference: str) -> str:
    """Return an ID for a row without an ID, derived from the statement and the reference."""
    parts = unicodedata.normalize("NFC", f"{statement}\0{reference}")
    words = re.sub(r"\W+", "-", statement[:200].lower())[:40].strip("-")
    return f"{words}-{hashlib.sha256(parts.encode()).hexdigest()[:12]}".strip("-")


def _hash(parts: tuple[object, ...]) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode()).hexdigest()
