"""Sandbox test results on the review page, which are shown only after every stage has a score."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from catalog.models import CaseRun, CaseSet
from catalog.services import CaseRow, StatementEvidence, case_rows, sandbox_trouble
from review.blinding.item_view import ItemView
from review.desk.views.decision_data import ShownDraft
from review.desk.views.evidence_differences import (
    CheckDifference,
    DraftEvidence,
    WorldDifference,
    find_check_differences,
    find_world_differences,
)
from review.evidence.cases_in_force import InForce, revisions_of, sets_seen_by
from review.evidence.services import (
    differs,
    is_open_to,
    labels_by,
    outcome_of,
    results_seen_by,
)
from review.models import CaseRevision, ExecutionLabel

MOST_SHOWN = 100  # characters per title or sentence in the list of removable tests and checks


@dataclass(frozen=True)
class StageLabel:
    """A stage where the reviewer's score and the test results differ, with the reviewer's explanation, if any."""

    stage: str
    label: str  # the script's label
    value: int
    outcome: str
    reason: str


class ShownPlace(NamedTuple):
    """A test or check that can be removed."""

    what: str  # `2` or `2.3`
    words: str
    is_chosen: bool


@dataclass(frozen=True)
class ShownSet:
    """A test suite that counts for this item, with its changes.

    If `is_under_way`, scripts are still running in the suite.
    """

    name: str  # identifies the current suite in forms; empty if all of its tests were removed
    cases: Sequence[CaseRow]
    places: Sequence[ShownPlace]
    changes: Sequence[CaseRevision]
    is_under_way: bool
    is_typed: bool  # True if the rejected input is about this suite


@dataclass(frozen=True)
class ShownEvidence:
    drafts: Sequence[DraftEvidence]
    world_differences: Sequence[WorldDifference]
    differences: Sequence[CheckDifference]
    labels: Sequence[StageLabel]
    sets: Sequence[ShownSet]
    may_change: bool
    typed: Mapping[str, str]
    digest: str
    trouble: str = ""  # why no tests can run now, if there are no results yet

    @property
    def is_under_way(self) -> bool:
        return any(one.is_under_way for one in self.sets)

    @property
    def with_keys(self) -> str:
        """Return the stage that keyboard shortcuts apply to: the first stage without a reason, or the last stage."""
        stages = [one.stage for one in self.labels if not one.reason]
        return (stages or [one.stage for one in self.labels[-1:]] or [""])[0]


def show_evidence(
    desk: ItemView, drafts: Sequence[ShownDraft], *, typed: Mapping[str, str] | None = None
) -> ShownEvidence | None:
    """Return the test results of the visible scripts, or None if they are hidden or there are no tests.

    No results are read before the last score, because the response time could reveal them.
    """
    if not is_open_to(desk):
        return None
    in_force = sets_seen_by(desk)
    sets = [one.case_set for one in in_force if one.case_set is not None]
    changed = [one for one in in_force if one.revision is not None]
    if not (sets or changed):
        return None
    scripts = {one.draft.sha256 for one in drafts}
    found = results_seen_by(desk, in_force, scripts)
    shown = [
        DraftEvidence(one.label, found[one.draft.sha256])
        for one in drafts
        if one.draft.sha256 in found
    ]
    under_way = _under_way(sets, scripts)
    labels = _labels(desk, drafts, found)
    shown_sets = [_show_set(desk, one, under_way, typed or {}) for one in in_force]
    return ShownEvidence(
        drafts=shown,
        world_differences=find_world_differences(shown),
        differences=find_check_differences(shown),
        labels=labels,
        sets=shown_sets,
        may_change=desk.reviewer.has_perm("review.review"),
        typed=typed or {},
        digest=_digest(sets, found, under_way),
        trouble="" if found else sandbox_trouble(),
    )


def _under_way(sets: Sequence[CaseSet], scripts: set[str]) -> set[int]:
    """Return the keys of changed suites in which a visible script is still waiting or running."""
    keys = [one.pk for one in sets if one.is_revision]
    if not keys:
        return set()
    waiting = CaseRun.objects.filter(
        case_set__in=keys, script_sha256__in=scripts, state__in=["waiting", "running"]
    ).exclude(purpose=CaseRun.Purpose.QUALITY)
    return set(waiting.values_list("case_set", flat=True))


def _digest(
    sets: Sequence[CaseSet], found: Mapping[str, Sequence[StatementEvidence]], under_way: set[int]
) -> str:
    results = sorted(
        (script, one.case_set.sha256, one.execution.passed, one.execution.failed)
        for script, group in found.items()
        for one in group
    )
    told = repr(([(one.sha256, one.pk in under_way) for one in sets], results))
    return hashlib.sha256(told.encode()).hexdigest()[:16]


def _show_set(
    desk: ItemView, one: InForce, under_way: set[int], typed: Mapping[str, str]
) -> ShownSet:
    changes: list[CaseRevision] = []
    if one.revision is not None:
        only = None if desk.visible["reviewers"] else desk.reviewer
        changes = revisions_of(desk.item.campaign, [one.root], by=only)
    case_set = one.case_set
    name = case_set.sha256[:16] if case_set else ""
    cases = case_rows(case_set, None) if case_set else ()
    is_typed = bool(name) and typed.get("set") == name
    return ShownSet(
        name=name,
        cases=cases,
        places=list(_places(cases, typed.get("what", "") if is_typed else "")),
        is_typed=is_typed,
        changes=changes,
        is_under_way=case_set is not None and case_set.pk in under_way,
    )


def _places(cases: Sequence[CaseRow], chosen: str) -> Iterator[ShownPlace]:
    for number, case in enumerate(cases, 1):
        yield ShownPlace(str(number), _short(case.title), chosen == str(number))
        for place, check in enumerate(case.checks, 1):
            what = f"{number}.{place}"
            yield ShownPlace(what, _short(check.sentence), chosen == what)


def _short(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}…"


def _labels(
    desk: ItemView,
    drafts: Sequence[ShownDraft],
    found: Mapping[str, Sequence[StatementEvidence]],
) -> list[StageLabel]:
    """Return the scored scripts whose test results differ from the reviewer's score, under either criterion."""
    own = labels_by(desk)
    names = {one.draft.pk: one.label for one in drafts}
    shown: list[StageLabel] = []
    for stage in ExecutionLabel.Stage.values:
        score = desk.scores.get(f"{stage}-model")
        if score is None or score.draft is None:
            continue
        results = found.get(score.draft.sha256, ())
        if differs(score, results):
            shown.append(
                StageLabel(
                    stage=stage,
                    label=names.get(score.draft.pk, str(ExecutionLabel.Stage(stage).label)),
                    value=score.value,
                    outcome=outcome_of(results),
                    reason=own.get(stage, ""),
                )
            )
    return shown
