"""Reviewers' actions on an item's evidence: remove, correct or add a test case, and explain a difference."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from catalog.models import CaseSet, CheckState
from catalog.services import (
    Place,
    StatementEvidence,
    carry_over,
    describe_place,
    evidence_in,
    put_case,
    read_place,
    strike_from,
)
from core.errors import BadInput, NotAllowedNow
from core.texts import clean_text
from review.blinding.item_view import ItemView, open_item
from review.evidence.campaign_cases import request_runs_for, results_of
from review.evidence.cases_in_force import InForce, sets_of_all, sets_seen_by
from review.models import Campaign, CaseRevision, ExecutionLabel, Item, Score
from review.study.execution import FAILED, NO_VERDICT, PASSED, score_differs

LONGEST_REASON = 1_000
MOST_EACH = 100  # changes by one user for one item


def is_open_to(desk: ItemView) -> bool:
    """Return whether the reviewer may see the sandbox test results, which requires a score for every stage.

    Test cases belong to the statement. After seeing them for one item, a reviewer knows which errors to look for in the
    statement's other items. A study that hides execution shows no results until it is closed. Other studies record what
    the reviewer has seen.
    """
    campaign = desk.item.campaign
    may_see = (
        campaign.is_live
        or campaign.state == Campaign.State.CLOSED
        or bool(desk.visible["execution"])
    )
    return (
        may_see
        and desk.script_score is not None
        and desk.next_step is None
        and bool(desk.visible["verdict"])
    )


def find_set(desk: ItemView, sha256: str) -> InForce:
    """Return the case set on the reviewer's page whose hash starts with `sha256`.

    Raises NotAllowedNow if the sets are not shown yet or this set has changed.
    """
    if not is_open_to(desk):
        raise NotAllowedNow(_("Score every stage to see the sandbox tests."))
    for one in sets_seen_by(desk):
        if one.case_set is not None and sha256 and one.case_set.sha256.startswith(sha256):
            return one
    raise NotAllowedNow(_("These tests have changed since you opened the page. Reload the page."))


@transaction.atomic
def strike(item: Item, *, sha256: str, what: str, reason: str, by: User) -> CaseRevision:
    """Exclude a test case or a check from this campaign's results, without deleting past results.

    Raises BadInput for `what` or `strike_reason`, and NotAllowedNow.
    """
    place = read_place(what)
    why = clean_text(reason, field="strike_reason", longest=LONGEST_REASON)
    desk, found, case_set = _lock(item, sha256, by)
    words = describe_place(case_set, place)
    kept = strike_from(case_set, place, by=by)
    return _revise(desk, found, kept, CaseRevision.Kind.STRUCK, words, why)


@transaction.atomic
def write_case(
    item: Item, *, sha256: str, number: int | None, text: str, reason: str, by: User
) -> CaseRevision:
    """Correct the test case with this number, or add a test case if `number` is None.

    Run the scripts against the test case.

    Raises BadInput for `case` or `reason`, and NotAllowedNow.
    """
    why = clean_text(reason, field="reason", longest=LONGEST_REASON)
    desk, found, case_set = _lock(item, sha256, by)
    kept = put_case(case_set, text, number=number, by=by)
    kind = CaseRevision.Kind.ADDED if number is None else CaseRevision.Kind.CORRECTED
    words = describe_place(kept, Place(number or kept.length))
    return _revise(desk, found, kept, kind, words, why)


@transaction.atomic
def label(item: Item, *, stage: str, reason: str, by: User) -> ExecutionLabel:
    """Record why the user's score and the test results differ at a stage, or remove the reason if it is already set.

    Earlier reasons are kept in the history. Raises BadInput for an unknown stage or reason, and NotAllowedNow if the
    score and the results do not differ.
    """
    if stage not in ExecutionLabel.Stage.values:
        raise BadInput(_("Unknown stage."))
    if reason not in ExecutionLabel.Reason.values:
        raise BadInput(_("Choose a cause from the list."))
    Item.objects.select_for_update(of=("self",)).get(pk=item.pk)
    desk = open_item(item, by)
    if not is_open_to(desk) or f"{stage}-model" not in desk.scores:
        raise NotAllowedNow(_("Score every stage to see the sandbox tests."))
    mine = ExecutionLabel.objects.filter(item=item, by=by, stage=stage)
    if mine.count() >= MOST_EACH:
        raise NotAllowedNow(_("An item can have at most %s changes.") % MOST_EACH)
    score = desk.scores[f"{stage}-model"]
    before = mine.filter(current=True).first()
    is_taken_back = before is not None and before.reason == reason
    if not is_taken_back and not _differs_on_screen(desk, score):
        raise NotAllowedNow(_("Your score and the test results agree, so no cause is needed."))
    mine.filter(current=True).update(current=False)
    return ExecutionLabel.objects.create(
        item=item,
        stage=stage,
        draft=score.draft,
        reason="" if is_taken_back else reason,
        by=by,
    )


def outcome_of(results: Sequence[StatementEvidence]) -> str:
    """Return the outcome of a script: passed, failed or no verdict.

    A single failed check makes the outcome failed. If any of the test runs did not complete, there is no verdict.
    """
    if any(one.execution.state == CheckState.NOT_RUN for one in results):
        return NO_VERDICT
    if any(one.execution.failed for one in results):
        return FAILED
    return PASSED if any(one.execution.passed for one in results) else NO_VERDICT


def differs(score: Score, results: Sequence[StatementEvidence]) -> bool:
    """Return whether the score contradicts these results under either criterion."""
    return score_differs(score.value, outcome_of(results))


def results_seen_by(
    desk: ItemView, in_force: Sequence[InForce], scripts: set[str]
) -> dict[str, list[StatementEvidence]]:
    """Return the results for these case sets by script hash.

    For changed sets, only results since the change are included.

    An earlier result would reveal that another reviewer has made the same change.
    """
    since = {
        one.case_set.pk: one.revision.at
        for one in in_force
        if one.case_set is not None and one.revision is not None
    }
    sets = [one.case_set.pk for one in in_force if one.case_set is not None]
    among = results_of(desk.item.campaign)
    found: dict[str, list[StatementEvidence]] = {}
    for script, results in evidence_in(sets, scripts, among=among).items():
        kept = [
            one
            for one in results
            if one.case_set.pk not in since or one.execution.last_at > since[one.case_set.pk]
        ]
        if kept:
            found[script] = kept
    return found


def _differs_on_screen(desk: ItemView, score: Score) -> bool:
    if score.draft is None:
        return False
    sha256 = score.draft.sha256
    return differs(score, results_seen_by(desk, sets_seen_by(desk), {sha256}).get(sha256, ()))


def labels_by(desk: ItemView) -> dict[str, str]:
    """Return this reviewer's reasons for differences, by stage."""
    rows = ExecutionLabel.objects.filter(item=desk.item, by=desk.reviewer, current=True)
    return dict(rows.exclude(reason="").values_list("stage", "reason"))


def _lock(item: Item, sha256: str, by: User) -> tuple[ItemView, InForce, CaseSet]:
    Item.objects.select_for_update(of=("self",)).get(pk=item.pk)
    desk = open_item(item, by)
    found = find_set(desk, sha256)
    assert found.case_set is not None
    if CaseRevision.objects.filter(item=item, by=by).count() >= MOST_EACH:
        raise NotAllowedNow(_("An item can have at most %s changes.") % MOST_EACH)
    return desk, found, found.case_set


def _revise(
    desk: ItemView, found: InForce, kept: CaseSet | None, kind: str, what: str, reason: str
) -> CaseRevision:
    assert found.case_set is not None
    # Lock the original set, because each change builds on the previous change.
    CaseSet.objects.select_for_update(of=("self",), no_key=True).get(pk=found.root.pk)
    (now,) = sets_of_all(desk.item.campaign, [found.root])
    merged = carry_over(found.case_set, kept, onto=now.case_set, by=desk.reviewer)
    revision = CaseRevision.objects.create(
        item=desk.item,
        root=found.root,
        former=found.case_set,
        case_set=kept,
        merged=merged,
        kind=kind,
        what=what,
        reason=reason,
        by=desk.reviewer,
        at=Now(),
    )
    revision.refresh_from_db(fields=["at"])
    made = {one.pk: one for one in (kept, merged) if one is not None}
    request_runs_for(desk.item, list(made.values()))
    return revision
