"""Callbacks that the project registers for run events and for data that studies hide. A sweep catches missed events."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import QuerySet

from core.listeners import Listener, notify
from pipeline.models import Action, Run

run_settled: Listener | None = None
used_unreviewed: Listener | None = None

# Annotate rows with the parts that the user must not see. Runs get `hides_verdict`, `hides_models`, `hides_reference`
# and `hides_end`, and actions get `hides_reference`. Without a callback, all parts are shown.
mark_hidden_runs: Callable[[User, QuerySet[Run]], QuerySet[Run]] | None = None
mark_hidden_actions: Callable[[User, QuerySet[Action]], QuerySet[Action]] | None = None


@dataclass(frozen=True)
class ReviewProgress:
    """The state of a run in the review queue: the decision, or the expected wait."""

    decided_by: str = ""
    decided_at: datetime | None = None
    reason: str = ""
    draft: int | None = None  # the key of the decided draft, with the reviewer's edits if any
    is_held: bool = False  # a reviewer has claimed the item
    position: int | None = None  # in the queue, from 1; None if the item is too far back to count
    usual_wait: timedelta | None = None  # time until a decision; None if too few are known


# Annotate runs with their state in the review queue: `review_decision` (approve, edit, reject or null),
# `review_version` (the state of the version that the decision added to the catalogue) and `review_waits`.
mark_reviewed_runs: Callable[[QuerySet[Run]], QuerySet[Run]] | None = None
describe_reviews: Callable[[Sequence[int]], Mapping[int, ReviewProgress]] | None = None

# Return whether an open study includes a run. Without a callback, no run is in a study.
studied: Callable[[int], bool] | None = None

# Called in the transaction that erases an action's texts, to erase copies elsewhere.
texts_erased: Callable[[int], None] | None = None

# Called when a user is shown data that reveals a run's verdict.
note_shown: Callable[[User, Run], None] | None = None


def is_in_open_study(run_id: int) -> bool:
    """Return whether the run belongs to an open study."""
    return studied is not None and studied(run_id)


def notify_run_settled(run_id: int) -> None:
    """Report that a run has ended."""
    notify(run_settled, run_id, event="run settled")


def notify_used_unreviewed(run_id: int) -> None:
    """Report that a user used an unreviewed script of this run."""
    notify(used_unreviewed, run_id, event="used unreviewed")
