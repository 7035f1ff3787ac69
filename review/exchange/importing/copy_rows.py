"""Build a row's lines for the COPY statements, without primary keys.

The lines are built while the database is still writing the previous slice. Afterward, only the keys must be added.
"""

from __future__ import annotations

import hashlib
import json
from typing import NamedTuple

from catalog.models import Version
from core.database.bulk_copy import put
from pipeline.models import Run
from pipeline.types import Arm, DraftKind
from review.counting.item_facts import ADVISED, MADE
from review.exchange.rows.item_rows import RETRIEVED, CaseRow, ItemRow
from review.study.types import Recommended

# Look up these values once instead of for every row.
_FAILED, _DONE = Run.State.FAILED.value, Run.State.DONE.value
_REPAIRED, _IMPORTED = DraftKind.REPAIRED.value, DraftKind.IMPORTED.value
OTHER = Recommended.OTHER.value
_REFINED, MODEL = DraftKind.REFINED.value, Arm.MODEL.value
# The key in the run's spec for the hash of the imported content.
CONTENT = "content_sha256"
# The key in the run's spec that is true if the file does not contain the number of reviewers.
ASSUMED = "overlap_assumed"

# The columns of each line, after the key columns.
ACTION = (
    *("statement_sha256", "statement", "incident", "environment", "reference"),
    *("severity", "target", "impact"),
)
CASE = ("external_id", "purpose", "known", "content_sha256")
RUN = ("state", "demo", "verdict")
DRAFT = ("number", "kind", "script", "sha256", "round", "arm")
FEEDBACK = ("text", "no_error_found", "words", "points", "arm")
ASSESSMENT = ("script_sha256", "verdict")
ITEM = ("sham", "execution", "execution_reason", "called_in", "pilot")


class CaseWords(NamedTuple):
    """The COPY lines of a case and its action."""

    action: str
    case: str


class ItemWords(NamedTuple):
    """The COPY lines of an item and its run. Missing parts are empty. `spec` is the end of the run's JSON."""

    spec: str
    run: str
    first: str
    assessment: str
    feedback: str
    refined: str
    item: str


def word_case(case: CaseRow, sha256: str) -> CaseWords:
    """Return the lines of a case. `sha256` is the hash of its content."""
    statement_sha256 = hashlib.sha256(case.statement.encode()).hexdigest()
    answers = json.dumps(case.known) if case.known else "{}"
    return CaseWords(
        put(statement_sha256, *case[1:8]), put(case.external_id, case.purpose, answers, sha256)
    )


def word_item(item: ItemRow, sha256: str) -> ItemWords:
    """Return the lines of an item. `sha256` is the hash of its content."""
    state = _FAILED if item.made == "failed" else _DONE
    made = f', "{MADE}": "{RETRIEVED}"' if item.made == RETRIEVED else ""
    # The recommended script is not scored at any stage, and the file may not contain its text.
    advised = f', "{ADVISED}": "{OTHER}"' if item.recommended == OTHER else ""
    assumed = f', "{ASSUMED}": true' if item.script and not item.overlap else ""
    script_sha256 = Version.hash_of(item.script) if item.script else ""
    kind = _REPAIRED if item.made == "repaired" else _IMPORTED
    has_more = item.script and (item.feedback or item.refined)
    return ItemWords(
        spec=f', "{CONTENT}": "{sha256}"{made}{advised}{assumed}}}',
        run=put(state, item.demo, item.verdict),
        first=put(1, kind, item.script, script_sha256, 0, MODEL) if item.script else "",
        assessment=put(script_sha256, item.verdict) if item.script and item.verdict else "",
        feedback=word_feedback(item.feedback, is_none=item.no_error_found) if has_more else "",
        refined=word_refined(2, item.refined) if has_more and item.refined else "",
        item=put(item.sham, item.execution, item.execution_reason, item.called_in, item.pilot),
    )


def word_feedback(text: str, *, is_none: bool = False, arm: str = MODEL) -> str:
    """Return the line of feedback on a first Draft."""
    points = sum(1 for line in text.splitlines() if line.strip())
    return put(text, is_none, len(text.split()), points, arm)


def word_refined(number: int, script: str, *, arm: str = MODEL, round_: int = 1) -> str:
    """Return the line of a refined Draft."""
    return put(number, _REFINED, script, Version.hash_of(script), round_, arm)
