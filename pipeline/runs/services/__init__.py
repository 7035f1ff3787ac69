"""Services for runs and drafts, used by the pages, the API and the commands."""

from pipeline.runs.services.drafts import (
    MAX_FEEDBACK,
    MAX_SCRIPT,
    add_edited_draft,
    ask_refinement,
    use_unreviewed,
)
from pipeline.runs.services.lifecycle import cancel_run, enqueue_run, retry_run, start_run
from pipeline.runs.services.matches import confirm_match, reject_match
from pipeline.runs.services.secrets import SecretsFound
from pipeline.runs.services.shortening import ask_shorter, can_shorten

__all__ = [
    "MAX_FEEDBACK",
    "MAX_SCRIPT",
    "SecretsFound",
    "add_edited_draft",
    "ask_refinement",
    "ask_shorter",
    "can_shorten",
    "cancel_run",
    "confirm_match",
    "enqueue_run",
    "reject_match",
    "retry_run",
    "start_run",
    "use_unreviewed",
]
