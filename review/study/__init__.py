"""Calculates the figures and agreement of a study from counts of item patterns and score patterns.

Pure code without Django or a database. The contribution of an item is one small, hashable `ItemPattern`. Every figure
is calculated from the number of identical patterns. A report therefore takes as long for a hundred as for a million
items, and a changed item only changes two counts.
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
