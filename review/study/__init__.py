"""The study's figures and agreement, from counts of item patterns and score patterns (STUDY's definitions).

Pure: no Django, no database. What an item brings is one small hashable `ItemPattern`; every figure is
computed from how many items are alike, so that a report costs the same at a hundred and at a million
items, and a changed item is one taken away and one added.
"""

from review.study.agreement import Agreement, agreement_of, cells_of, values_of
from review.study.compare import Comparison, compare
from review.study.figures import FIGURES, Figure, patterns_behind, work_out_figures
from review.study.patterns import pattern_of, values_given
from review.study.report import ArmCounts, StageCounts, study_report
from review.study.types import Criterion, GivenScore, ItemPattern, Judged, Stage, Standing

__all__ = [
    "FIGURES",
    "Agreement",
    "ArmCounts",
    "Comparison",
    "Criterion",
    "Figure",
    "GivenScore",
    "ItemPattern",
    "Judged",
    "Stage",
    "StageCounts",
    "Standing",
    "agreement_of",
    "cells_of",
    "compare",
    "pattern_of",
    "patterns_behind",
    "study_report",
    "values_given",
    "values_of",
    "work_out_figures",
]
