"""The pipeline's services for other apps and commands. Pages call the services in their own package."""

from pipeline.actions.list_rows import ActionRow, action_rows
from pipeline.actions.services import (
    MAX_CONTEXT,
    MAX_STATEMENT,
    ask,
    ask_and_run,
    erase_action,
    forget_keys,
)
from pipeline.configurations.services import (
    default_configuration,
    find_configuration,
    switch_cases_on,
)
from pipeline.costs.pricing import BATCHES_DIVISOR, price_on
from pipeline.message_batches.services import (
    awaits_replies,
    cancel_message_batches,
    progress_of,
    use_message_batches,
)
from pipeline.message_batches.waiting import NEVER_BATCHED
from pipeline.runs.answers import MOST_NEWS, news_of
from pipeline.runs.evidence import request_evidence
from pipeline.runs.services import (
    MAX_FEEDBACK,
    MAX_SCRIPT,
    SecretsFound,
    add_edited_draft,
    ask_refinement,
    ask_shorter,
    can_shorten,
    cancel_run,
    confirm_match,
    enqueue_run,
    reject_match,
    retry_run,
    start_run,
    use_unreviewed,
)
from pipeline.scheduling.batches import pause_batch, resume_batch, set_budget

__all__ = [
    "ActionRow",
    "BATCHES_DIVISOR",
    "MAX_CONTEXT",
    "MAX_FEEDBACK",
    "MAX_SCRIPT",
    "MAX_STATEMENT",
    "MOST_NEWS",
    "NEVER_BATCHED",
    "SecretsFound",
    "action_rows",
    "add_edited_draft",
    "ask",
    "ask_and_run",
    "ask_refinement",
    "ask_shorter",
    "awaits_replies",
    "can_shorten",
    "cancel_message_batches",
    "cancel_run",
    "confirm_match",
    "default_configuration",
    "enqueue_run",
    "erase_action",
    "forget_keys",
    "find_configuration",
    "news_of",
    "pause_batch",
    "price_on",
    "progress_of",
    "reject_match",
    "request_evidence",
    "resume_batch",
    "retry_run",
    "set_budget",
    "start_run",
    "switch_cases_on",
    "use_message_batches",
    "use_unreviewed",
]
