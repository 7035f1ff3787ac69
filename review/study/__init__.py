"""Calculate the figures and agreement of a study from counts of item patterns and score patterns.

The package does not use Django or a database. An item's contribution is one small, hashable `ItemPattern`. Figures are
calculated from the numbers of identical patterns. The time for a report therefore does not depend on the number of
items, and a changed item changes only two counts.
"""

from review.study.agreement import (
    Agreement,
    Leaning,
    PairCells,
    StageCounts,
    Values,
    agreement_of,
    leanings_of,
    pairs_of,
    values_of,
)
from review.study.compare import Comparison, compare
from review.study.figures import FIGURES, Figure, patterns_behind, patterns_open, work_out_figures
from review.study.patterns import (
    Reading,
    not_blind_of,
    overturned_of,
    pattern_of,
    scores_used,
    stages_to_settle,
    value_by_reviewer,
    values_by_text,
    values_given,
)
from review.study.report import ArmCounts, study_report
from review.study.types import Criterion, FinalScore, GivenScore, ItemPattern, Judged, Stage

__all__ = [
    "FIGURES",
    "Agreement",
    "ArmCounts",
    "Comparison",
    "Criterion",
    "Figure",
    "FinalScore",
    "GivenScore",
    "ItemPattern",
    "Judged",
    "Leaning",
    "PairCells",
    "Reading",
    "Stage",
    "StageCounts",
    "Values",
    "agreement_of",
    "compare",
    "leanings_of",
    "not_blind_of",
    "overturned_of",
    "pairs_of",
    "pattern_of",
    "patterns_behind",
    "patterns_open",
    "scores_used",
    "stages_to_settle",
    "study_report",
    "value_by_reviewer",
    "values_by_text",
    "values_given",
    "values_of",
    "work_out_figures",
]
