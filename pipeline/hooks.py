"""Callbacks that the project registers: events of runs, and what studies hide. Missed events are caught by a sweep."""

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

# Mark, by annotations, what of each row the person must not see: `hides_verdict`, `hides_models`, `hides_reference`
# and `hides_end` of a run, `hides_reference` of an action. Without a rule, everything is shown.
mark_hidden_runs: Callable[[User, QuerySet[Run]], QuerySet[Run]] | None = None
mark_hidden_actions: Callable[[User, QuerySet[Action]], QuerySet[Action]] | None = None


@dataclass(frozen=True)
class ReviewProgress:
    """How the live queue handles a run: the decision, or the expected time until then."""

    decided_by: str = ""
    decided_at: datetime | None = None
    reason: str = ""
    draft: int | None = (
        None  # the key of the draft that was decided on, with the reviewer's edits if any
    )
    is_held: bool = False  # a reviewer has it in hand
    position: int | None = None  # in the queue, from 1; None where it is too far back to count
    usual_wait: timedelta | None = (
        None  # from the queue to a decision; None where too few are known
    )


# Mark, by annotations, what the live queue says of each run: `review_decision` (approve, edit, reject or null),
# `review_version` (the state of the version that the decision put into the catalogue) and `review_waits`.
mark_reviewed_runs: Callable[[QuerySet[Run]], QuerySet[Run]] | None = None
describe_reviews: Callable[[Sequence[int]], Mapping[int, ReviewProgress]] | None = None

# Whether a study that is not closed looks at a run. Without a rule none does.
studied: Callable[[int], bool] | None = None

# An action's texts are erased: where else they stand, they go in the same transaction, or nothing is erased.
texts_erased: Callable[[int], None] | None = None

# A person is shown what tells the verdict of a run.
note_shown: Callable[[User, Run], None] | None = None


def is_in_open_study(run_id: int) -> bool:
    """Whether the run belongs to a study that is not closed."""
    return studied is not None and studied(run_id)


def notify_run_settled(run_id: int) -> None:
    """A run has ended."""
    notify(run_settled, run_id, event="run settled")


def notify_used_unreviewed(run_id: int) -> None:
    """Somebody used a script of this run before anybody had reviewed it."""
    notify(used_unreviewed, run_id, event="used unreviewed")
