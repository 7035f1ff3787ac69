"""Compare sandbox test results with experts' scores: accuracy, confusion matrix and reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from core.translation import gettext_noop as _
from review.study.criteria import Patterns
from review.study.figures import Clusters
from review.study.statistics.intervals import Cluster, Share
from review.study.types import Criterion, FinalScore, ItemPattern

LABELS = (
    *("case_wrong", "interpretation", "output_too_strict"),
    *("world_unlike_reality", "script_wrong"),
)
NOT_SAID = "not_said"
TO_RUN = "to_run"
NOT_RUN = "not run"
PASSED, FAILED, NO_VERDICT = "passed", "failed", "no_verdict"
RIGHT, WRONG, OPEN = "right", "wrong", "open"
OUTCOMES = (PASSED, FAILED, NO_VERDICT)
SIDES = (RIGHT, WRONG, OPEN)

ACCURACY_TEXT = _(
    "Scripts that pass every check with a verdict, as a share of the scripts with at least "
    "one such check, in the sandbox tests of their statement. Checks that are unstable, "
    "unsupported, stopped at a limit or not run have no verdict and are counted "
    "separately. A script has no verdict while a check still has to run. Removed tests and "
    "checks are excluded; edited and added ones count from then on."
)
CONFUSION_TEXT = _(
    "Sandbox results compared with the experts’ final scores under the criterion. The value is the "
    "share of scripts with a final score and a sandbox verdict for which both agree."
)
REASONS_TEXT = _(
    "The causes that reviewers give for scripts on which sandbox tests and experts differ. "
    "A script counts once for each cause that a reviewer gives."
)
INTERCODE_TEXT = _(
    "Imported execution results, such as InterCode’s reward. The value is the share of items with a "
    "result of 1.0 among all items with a result. These results are for comparison only, because the "
    "scripts were not run here."
)


class Executed(NamedTuple):
    """A script of an item, with its check results, the experts' final score and the reviewers' reasons."""

    statement: str  # the same for all items of a statement
    expert: FinalScore
    passed: int = 0
    failed: int = 0
    others: Mapping[str, int] = {}  # counts by state, including `to_run`
    labels: Collection[str] = ()

    @property
    def outcome(self) -> str:
        """Return the outcome: passed, failed or no verdict.

        If a check has not run yet or could not run, the script has no verdict. Otherwise, scripts with fewer results
        would look better.
        """
        if self.others.get(TO_RUN) or self.others.get(NOT_RUN):
            return NO_VERDICT
        if self.failed:
            return FAILED
        return PASSED if self.passed else NO_VERDICT

    def side(self, criterion: Criterion) -> str:
        """Return the experts' result under the criterion: right, wrong or open."""
        return _side(self.expert, criterion)

    def differs(self, criterion: Criterion) -> bool:
        """Return whether sandbox and experts both have a result and the two results differ."""
        return (self.outcome, self.side(criterion)) in ((PASSED, WRONG), (FAILED, RIGHT))


def _side(expert: FinalScore, criterion: Criterion) -> str:
    right = expert.right(criterion)
    return OPEN if right is None else RIGHT if right else WRONG


def final_score_of(values: Collection[int]) -> FinalScore:
    """Return the final score of a stage, without adjudication, from the distinct values of its reviewers."""
    if not values:
        return FinalScore.UNSCORED
    if len(values) == 1:
        return FinalScore(str(min(values)))
    if min(values) > 0:
        return FinalScore.ABOVE
    return FinalScore.BELOW if max(values) < 2 else FinalScore.UNRESOLVED


def score_differs(value: int, outcome: str) -> bool:
    """Return whether a score from 0 to 2 contradicts the outcome under either criterion."""
    return (outcome == FAILED and value >= 1) or (outcome == PASSED and value < 2)


def tabulate_execution(rows: Sequence[Executed], criterion: Criterion) -> dict[str, object]:
    """Return a Configuration's execution results at one stage as JSON for the report."""
    sides = {final: _side(final, criterion) for final in FinalScore}
    said = [(row, row.outcome, sides[row.expert]) for row in rows]
    judged = [one for one in said if one[1] != NO_VERDICT]
    known = [one for one in judged if one[2] != OPEN]
    agreed = [(outcome == PASSED) == (side == RIGHT) for _row, outcome, side in known]
    differ = [one[0] for one, agrees in zip(known, agreed, strict=True) if not agrees]
    confusion = Counter((side, outcome) for _row, outcome, side in said)
    reasons = Counter(label for row in differ for label in set(row.labels))
    reasons[NOT_SAID] = sum(not row.labels for row in differ)
    checks = Counter(
        {PASSED: sum(row.passed for row in rows), FAILED: sum(row.failed for row in rows)}
    )
    for row in rows:
        if row.others:
            checks.update(row.others)
    return {
        "execution_accuracy": _share(
            [row.statement for row, _outcome, _side in judged],
            [outcome == PASSED for _row, outcome, _side in judged],
        ),
        "agreement": _share([row.statement for row, _outcome, _side in known], agreed),
        "confusion": {
            side: {outcome: confusion[side, outcome] for outcome in OUTCOMES} for side in SIDES
        },
        "differ": len(differ),
        "reasons": {name: reasons[name] for name in (*LABELS, NOT_SAID)},
        "checks": {name: count for name, count in sorted(checks.items()) if count},
        "without_verdict": len(rows) - len(judged),
    }


def share_of_imported(patterns: Patterns, clusters: Clusters) -> dict[str, object] | None:
    """Return the share of full success among imported results, or None if there are no imported results.

    `clusters` are the statements with more than one item. Retrieved scripts are in no cluster and are treated as
    independent.
    """
    numerator = _count(patterns, lambda pattern: pattern.execution is True)
    denominator = _count(patterns, lambda pattern: pattern.execution is not None)
    if not denominator:
        return None
    several: Counter[tuple[int, int]] = Counter()
    for statement, times in clusters.items():
        results = [one.execution for one in statement if one.execution is not None]
        if len(results) > 1:
            several[sum(results), len(results)] += times
    every = None
    if several:
        right = numerator - sum(added * times for (added, _n), times in several.items())
        single = denominator - sum(size * times for (_added, size), times in several.items())
        every = [(*key, times) for key, times in several.items()]
        every += [(1, 1, right), (0, 1, single - right)]
    share = Share.of(numerator, denominator, clusters=every)
    return {**share.as_json(), "deff": share.deff}


def _count(patterns: Patterns, counts: Callable[[ItemPattern], bool]) -> int:
    return sum(times for pattern, times in patterns.items() if counts(pattern))


def _share(statements: Sequence[str], counted: Sequence[bool]) -> dict[str, object]:
    items = Counter(statements)
    clusters: list[Cluster] | None = None
    if len(items) < len(statements):
        right = Counter(one for one, counts in zip(statements, counted, strict=True) if counts)
        alike = Counter((right[one], size) for one, size in items.items())
        clusters = [(*key, times) for key, times in alike.items()]
    share = Share.of(sum(counted), len(statements), clusters=clusters)
    return {**share.as_json(), "deff": share.deff}
