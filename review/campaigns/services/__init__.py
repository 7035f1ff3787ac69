"""Managers' actions on campaigns, such as creating, changing, opening and closing them."""

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
    arms_of,
    change_campaign,
    choose_arms,
    clone_campaign,
    preset_rules,
    rules_of,
    withdraw,
)
from review.campaigns.services.flags import answer_flag
from review.campaigns.services.live_queue import Sent, runs_in_queue, send_to_live_queue
from review.campaigns.services.membership import (
    add_everybody,
    add_reviewer,
    choose_reviewers,
    held_items,
    pause_member,
    people_outside,
    set_limit,
)
from review.campaigns.services.planning import Plan, plan_of, save_plan, work_out
from review.campaigns.services.preparation import prepare_item, prepare_missed
from review.campaigns.services.readiness import StepStanding, read_readiness
from review.campaigns.services.rubrics import (
    count_undecided,
    is_undecided,
    keep_older_scores,
    rubric_choices,
    rubric_uses,
    scored_under_older,
    send_back_older_scores,
)
from review.campaigns.services.rules import (
    Rules,
    change_rules,
    create_campaign,
    is_in_pilot,
    may_revise,
    write_rubric,
)
from review.campaigns.services.runs import ask_for_runs, count_missing_runs, start_asked
from review.campaigns.services.states import (
    MOVES,
    Lack,
    missing_to_open,
    move_campaign,
    pilot_cases,
)

__all__ = [
    "Difference",
    "Lack",
    "MOST_AT_ONCE",
    "MOVES",
    "Plan",
    "Rules",
    "Sent",
    "StepStanding",
    "add_actions",
    "add_everybody",
    "add_reviewer",
    "add_runs",
    "adjudicate",
    "answer_flag",
    "arms_of",
    "ask_for_runs",
    "call_in",
    "change_campaign",
    "change_rules",
    "check_adjudicator",
    "choose_arms",
    "choose_reviewers",
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
    "may_revise",
    "missing_to_open",
    "move_campaign",
    "pause_member",
    "people_outside",
    "pilot_cases",
    "plan_of",
    "prepare_item",
    "prepare_missed",
    "preset_rules",
    "read_readiness",
    "rubric_choices",
    "rubric_uses",
    "rules_of",
    "runs_in_queue",
    "save_plan",
    "scored_under_older",
    "send_back_older_scores",
    "send_to_live_queue",
    "set_limit",
    "start_asked",
    "withdraw",
    "work_out",
    "write_rubric",
]
