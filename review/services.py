"""What people can do in a review; pages, API and commands call these and nothing else."""

from __future__ import annotations

from review.blinding.item_view import Desk, Step, open_desk
from review.desk.decision_score import Picked
from review.desk.decisions import decide
from review.desk.line_comments import add_remark, remove_remark
from review.desk.scoring import (
    Given,
    ask_for_feedback,
    holding,
    is_through,
    reveal,
    score_locked,
    send_feedback,
    submit_score,
)
from review.desk.shortening import shorten_feedback
from review.desk.undo import undo_last
from review.queue.claims import claim_item, claim_next, earlier_item, flag, give_back, waiting_for
from review.queue.eligibility import URGENT_FIRST
from review.queue.intake import (
    item_of_run,
    live_queue,
    raise_priority,
    send_to_queue,
    take_in,
    take_in_missed,
)
from review.queue.leases import (
    expire_leases,
    forget_scratches,
    keep_alive,
    open_in_tab,
    save_scratch,
)
from review.queue.reassignment import assign, take_back, take_over
from review.queue.sendback import answer, send_back

__all__ = [
    "URGENT_FIRST",
    "Desk",
    "Given",
    "Picked",
    "Step",
    "add_remark",
    "answer",
    "ask_for_feedback",
    "assign",
    "claim_item",
    "claim_next",
    "decide",
    "earlier_item",
    "expire_leases",
    "flag",
    "forget_scratches",
    "give_back",
    "holding",
    "is_through",
    "item_of_run",
    "keep_alive",
    "live_queue",
    "open_desk",
    "open_in_tab",
    "raise_priority",
    "remove_remark",
    "reveal",
    "save_scratch",
    "send_back",
    "send_feedback",
    "send_to_queue",
    "shorten_feedback",
    "score_locked",
    "submit_score",
    "take_back",
    "take_in",
    "take_in_missed",
    "take_over",
    "undo_last",
    "waiting_for",
]
