"""A reviewer's actions on an item: open, score, comment, decide and undo."""

from __future__ import annotations

from review.blinding.item_view import ItemView, Step, open_item
from review.desk.autosave import forget_scratches, save_scratch
from review.desk.decision.decision_score import ScoreForm
from review.desk.decision.decisions import decide
from review.desk.decision.undo import undo_last
from review.desk.feedback_requests import ask_for_feedback, send_feedback
from review.desk.line_comments import add_remark, remove_remark
from review.desk.scores import (
    ScoreInput,
    confirm_scores,
    held_assignment,
    is_through,
    reveal,
    score_locked,
    submit_score,
)
from review.desk.shortening import access_shortening, shorten_feedback

__all__ = [
    "ItemView",
    "ScoreForm",
    "ScoreInput",
    "Step",
    "access_shortening",
    "add_remark",
    "ask_for_feedback",
    "confirm_scores",
    "decide",
    "forget_scratches",
    "held_assignment",
    "is_through",
    "open_item",
    "remove_remark",
    "reveal",
    "save_scratch",
    "score_locked",
    "send_feedback",
    "shorten_feedback",
    "submit_score",
    "undo_last",
]
