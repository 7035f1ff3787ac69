"""What managers can do with campaigns: create, fill, change, open and close them, and settle differences."""

from __future__ import annotations

from review.campaigns.services.adjudication import (
    Difference,
    adjudicate,
    call_in,
    check_adjudicator,
    differences,
    disputed_items,
)
from review.campaigns.services.editing import (
    MOST_AT_ONCE,
    add_actions,
    add_runs,
    change_campaign,
    choose_arms,
    clone_campaign,
    preset_rules,
    rules_of,
    withdraw,
)
from review.campaigns.services.flags import answer_flag
from review.campaigns.services.membership import (
    add_everybody,
    add_reviewer,
    held_items,
    pause_member,
    people_outside,
    set_limit,
)
from review.campaigns.services.preparation import prepare_item, prepare_missed
from review.campaigns.services.rubrics import (
    count_undecided,
    is_undecided,
    keep_older_scores,
    rubric_choices,
    rubric_uses,
    scored_under_older,
    send_back_older_scores,
)
from review.campaigns.services.rules import Rules, change_rules, create_campaign, write_rubric
from review.campaigns.services.runs import ask_for_runs, count_missing_runs, start_asked
from review.campaigns.services.states import MOVES, is_in_pilot, move_campaign, pilot_cases

__all__ = [
    "Difference",
    "MOST_AT_ONCE",
    "MOVES",
    "Rules",
    "add_actions",
    "add_everybody",
    "add_reviewer",
    "add_runs",
    "adjudicate",
    "answer_flag",
    "ask_for_runs",
    "call_in",
    "change_campaign",
    "change_rules",
    "check_adjudicator",
    "choose_arms",
    "clone_campaign",
    "count_missing_runs",
    "count_undecided",
    "create_campaign",
    "differences",
    "disputed_items",
    "held_items",
    "is_in_pilot",
    "is_undecided",
    "keep_older_scores",
    "move_campaign",
    "pause_member",
    "people_outside",
    "pilot_cases",
    "prepare_item",
    "prepare_missed",
    "preset_rules",
    "rubric_choices",
    "rubric_uses",
    "rules_of",
    "scored_under_older",
    "send_back_older_scores",
    "set_limit",
    "start_asked",
    "withdraw",
    "write_rubric",
]
