"""Calibration services: labels, cases to label, the threshold, and the choice of a scoring."""

from __future__ import annotations

from catalog.calibration.services.cases import (
    CaseToLabel,
    label_case,
    next_case,
    read_cases,
    score_labels,
    unscored,
)
from catalog.calibration.services.labels import (
    LABEL_MATCHES,
    confirmed_matches,
    forget_statement,
    label_match,
    undo_label,
)
from catalog.calibration.services.scoring_choice import choose_scoring
from catalog.calibration.services.scoring_fit import begin_fit, carry_out_fit
from catalog.calibration.services.thresholds import SET_THRESHOLD, set_threshold

__all__ = [
    "LABEL_MATCHES",
    "SET_THRESHOLD",
    "CaseToLabel",
    "begin_fit",
    "carry_out_fit",
    "choose_scoring",
    "confirmed_matches",
    "forget_statement",
    "label_case",
    "label_match",
    "next_case",
    "read_cases",
    "score_labels",
    "set_threshold",
    "undo_label",
    "unscored",
]
