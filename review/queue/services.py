"""The public interface of the queue. Reviewers claim and release items, and managers reassign them."""

from __future__ import annotations

from review.queue.assignment_leases import expire_leases, keep_alive, open_in_tab
from review.queue.claims import (
    claim_following,
    claim_item,
    claim_next,
    count_waiting_for,
    earlier_item,
    flag,
    give_back,
    waiting_for,
)
from review.queue.eligibility import URGENT_FIRST
from review.queue.intake import (
    item_of_run,
    live_queue,
    raise_priority,
    send_to_queue,
    take_in,
    take_in_missed,
)
from review.queue.members import add_member, people_who_review, reviewers_for
from review.queue.overview.own_studies import (
    MOST_COUNTED,
    Study,
    read_studies,
    studies_of,
    studies_under_way,
    takes_part,
)
from review.queue.overview.pace import (
    count_given,
    count_held,
    count_today,
    own_pace,
    own_place,
)
from review.queue.reassignment import assign, assignments_of, send_back, take_back, take_over
from review.queue.reviewer_checks.gold import mark_case

__all__ = [
    "Study",
    "MOST_COUNTED",
    "URGENT_FIRST",
    "add_member",
    "assign",
    "assignments_of",
    "claim_item",
    "claim_following",
    "claim_next",
    "count_given",
    "count_held",
    "count_today",
    "count_waiting_for",
    "earlier_item",
    "expire_leases",
    "flag",
    "give_back",
    "item_of_run",
    "keep_alive",
    "live_queue",
    "mark_case",
    "open_in_tab",
    "own_pace",
    "own_place",
    "people_who_review",
    "raise_priority",
    "read_studies",
    "reviewers_for",
    "send_back",
    "send_to_queue",
    "studies_of",
    "studies_under_way",
    "take_back",
    "take_in",
    "take_in_missed",
    "take_over",
    "takes_part",
    "waiting_for",
]
