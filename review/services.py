"""What people can do in a review; pages, API and commands call these and nothing else."""

from __future__ import annotations

from review.decisions import decide
from review.desk import Desk, Step, open_desk
from review.intake import (
    item_of_run,
    live_queue,
    raise_priority,
    send_to_queue,
    take_in,
    take_in_missed,
)
from review.queue import (
    claim_item,
    claim_next,
    expire_leases,
    flag,
    give_back,
    keep_alive,
    save_scratch,
    waiting_for,
)
from review.scoring import Given, ask_for_feedback, holding, reveal, send_feedback, submit_score

__all__ = [
    "Desk",
    "Given",
    "Step",
    "ask_for_feedback",
    "claim_item",
    "claim_next",
    "decide",
    "expire_leases",
    "flag",
    "give_back",
    "holding",
    "item_of_run",
    "keep_alive",
    "live_queue",
    "open_desk",
    "raise_priority",
    "reveal",
    "save_scratch",
    "send_feedback",
    "send_to_queue",
    "submit_score",
    "take_in",
    "take_in_missed",
    "waiting_for",
]
