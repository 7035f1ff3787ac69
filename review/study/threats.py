"""Threats to validity: the measures against each threat, and the statistics that report them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.lazy_numpy import np
from core.translation import gettext_noop as _
from review.study.agreement import Values
from review.study.repeated import count_clusters
from review.study.statistics.coefficients import kappas_of, penalties
from review.study.statistics.intervals import Difference, Share
from review.study.types import VALUES, Criterion

QUARTERS = 4


@dataclass(frozen=True)
class Threat:
    """A threat to validity, with a description and the product's measures against the threat."""

    key: str
    label: str
    text: str
    # A phrase shown before `text` if the text applies to only some of the scores.
    before: str = ""


PREVENTED = _("Prevented.")
# The conditions under which imported scores were given are unknown.
UNKNOWN = _(
    "Unknown. The scores were imported, so ScriptSmith did not control how they were given. Times and "
    "visibility from the files are shown."
)


PARTLY = _(
    "Unknown for imported scores, because ScriptSmith did not control how they were given. For all other scores:"
)


def threats_of(*, here: int, imported: int) -> list[Threat]:
    """Return the threats with the measures that apply to the origin of the scores.

    For imported scores, the product does not claim prevention. For a study without scores, all measures apply.
    """
    if not imported:
        return list(THREATS)
    change = {"before": PARTLY} if here else {"text": UNKNOWN}
    return [replace(one, **change) if one.text.startswith(PREVENTED) else one for one in THREATS]


@dataclass(frozen=True)
class Retest:
    """Test-retest reliability on hidden repeats. Kappa is None if the scores do not vary."""

    share: Share
    kappa: float | None


THREATS: tuple[Threat, ...] = (
    Threat(
        "order",
        _("Order"),
        _(
            "Prevented. The order is random for each reviewer, with a stored seed, and a reviewer never "
            "gets two arms of the same statement in one session."
        ),
    ),
    Threat(
        "halo",
        _("Halo"),
        _(
            "Reported. Another reviewer scores a share of the refined scripts as if they were first "
            "drafts, without the diff. The report shows the difference from the usual score and "
            "excludes these scores from all other figures."
        ),
    ),
    Threat(
        "drift",
        _("Drift and fatigue"),
        _(
            "Reported. A few hidden repeats measure how consistent each reviewer is, and accuracy is "
            "shown by quarter of a session."
        ),
    ),
    Threat(
        "rubric",
        _("Rubric changes"),
        _(
            "Recorded. Each score names the rubric version under which it was given. After a change, a "
            "manager decides whether to keep earlier scores or send the items back. The decision is listed here."
        ),
    ),
    Threat(
        "skipping",
        _("Skipping"),
        _(
            "Reported. Skips are listed by reviewer, verdict and configuration. A skipped item goes to "
            "another reviewer if one is available. Bounds show the accuracy if all items that are still "
            "skipped were wrong or right."
        ),
    ),
    Threat(
        "pilot",
        _("Pilot scores"),
        _(
            "Recorded. The plan, rules and rubric may be revised between the pilot and the main phase. "
            "Pilot scores are kept but excluded from all figures, unless the manager decides to include "
            "them before the main phase starts."
        ),
    ),
    Threat(
        "live",
        _("Mixing with the review queue"),
        _(
            "Prevented. Scores from the review queue are never used in a study, and study items can't "
            "be approved until the study closes."
        ),
    ),
    Threat(
        "examples",
        _("Answers among the examples"),
        _(
            "Recorded. By default, the generator gets no verified entries as examples in a study. If "
            "the manager turns examples on, an entry is excluded if its script equals or nearly equals "
            "the reference, if one of its phrasings is the statement, if its retrieval confidence is "
            "above half of the threshold, or if it is a near-duplicate of such an entry. Runs from "
            "outside the study got the nearest entries, so their stored prompts are checked against the same rules."
        ),
    ),
    Threat(
        "interest",
        _("Judging one’s own work"),
        _(
            "Prevented. Reviewers never score what they wrote, edited or gave feedback on, and "
            "adjudicators never adjudicate items that they reviewed. Reviewers who have seen verdicts "
            "are marked as unblinded, and adjudications that overturn a unanimous result are counted."
        ),
    ),
    Threat(
        "peeking",
        _("Optional stopping"),
        _(
            "Recorded. The report shows when the primary outcome was chosen, and how many scores and "
            "report views came before. It lists every view of the report, its snapshots and its exports "
            "with the state of the study at that time. It also lists when the study was closed and "
            "reopened, because p values are shown while it is closed."
        ),
    ),
)


def compare_halo(
    statements: Iterable[Sequence[tuple[int, int]]], criterion: Criterion
) -> Difference:
    """Compare the usual scores of refined scripts with scores by reviewers who saw the scripts as first Drafts.

    `statements` contains the pairs of scores of each statement.
    """
    cells: Counter[tuple[bool, bool]] = Counter()
    moves: list[list[int]] = []
    for pairs in statements:
        found = [(usual >= criterion.least, other >= criterion.least) for usual, other in pairs]
        cells.update(found)
        moves.append([after - before for before, after in found])
    repeats = any(len(own) > 1 for own in moves)
    return Difference.of(
        both=cells[True, True],
        lost=cells[True, False],
        gained=cells[False, True],
        neither=cells[False, False],
        clusters=count_clusters(moves) if repeats else None,
    )


def compare_repeats(pairs: Mapping[tuple[int, int], int]) -> Retest:
    """Return the proportion of equal scores and Cohen's kappa for the counts of (first, again) scores."""
    table = np.array([[pairs.get((first, again), 0) for again in VALUES] for first in VALUES])
    share = Share.of(int(np.trace(table)), int(table.sum()))
    kappa = float(kappas_of(table.astype(np.float64), penalties()["nominal"]))
    return Retest(share, None if np.isnan(kappa) else kappa)


def share_by_quarter(
    counts: Mapping[int, Mapping[Values, int]], criterion: Criterion
) -> tuple[Share, ...]:
    """Return the proportion of right scores in each quarter. `counts` maps combinations of scores to statement counts.

    Scores of the same statement are not independent. The interval therefore accounts for statements with more than one
    score in a quarter.
    """
    return tuple(_share_of_quarter(counts.get(number, {}), criterion) for number in range(QUARTERS))


def _share_of_quarter(statements: Mapping[Values, int], criterion: Criterion) -> Share:
    clusters = [
        (sum(given[criterion.least :]), sum(given), times) for given, times in statements.items()
    ]
    right = sum(own * times for own, _size, times in clusters)
    size = sum(size * times for _own, size, times in clusters)
    repeats = any(size > 1 for _own, size, _times in clusters)
    return Share.of(right, size, clusters=clusters if repeats else None)
