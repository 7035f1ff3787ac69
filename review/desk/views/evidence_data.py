"""What the scripts on the screen did in prepared worlds; shown only when every stage has its score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from catalog.services import StatementEvidence, evidence_for
from review.blinding.item_view import ItemView, note_shown_by
from review.desk.views.decision_data import ShownDraft


@dataclass(frozen=True)
class DraftEvidence:
    """One script and what it did in each case set of the statement."""

    label: str
    results: Sequence[StatementEvidence]


@dataclass(frozen=True)
class CheckDifference:
    """A check of which the scripts make something else: the sentence, and the state by the name of the script."""

    case: str
    sentence: str
    states: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class ShownEvidence:
    drafts: Sequence[DraftEvidence]
    differences: Sequence[CheckDifference]


def show_evidence(desk: ItemView, drafts: Sequence[ShownDraft]) -> ShownEvidence | None:
    """What the scripts in view did in the cases of the statement; None where that is not to be seen, or not known.

    Nothing is read before the last score is in, so that neither the page nor the time it takes tells anything.
    """
    if desk.script_score is None or desk.next_step is not None or not desk.visible["verdict"]:
        return None
    found = evidence_for(desk.run.action.statement, {one.draft.sha256 for one in drafts})
    if not found:
        return None
    note_shown_by(desk)
    shown = [
        DraftEvidence(one.label, found[one.draft.sha256])
        for one in drafts
        if one.draft.sha256 in found
    ]
    return ShownEvidence(shown, _differences(shown))


def _differences(drafts: Sequence[DraftEvidence]) -> list[CheckDifference]:
    """The checks that hold for one script and not for another, in the same worlds."""
    states: dict[tuple[int, int, int], list[tuple[str, str]]] = {}
    words: dict[tuple[int, int, int], tuple[str, str]] = {}
    for draft in drafts:
        for result in draft.results:
            for check in result.execution.checks.all():
                place = (result.case_set.pk, check.case_number, check.number)
                states.setdefault(place, []).append((draft.label, check.state))
                words[place] = (check.case_title, check.sentence)
    return [
        CheckDifference(*words[place], found)
        for place, found in states.items()
        if len({state for _label, state in found}) > 1
    ]
