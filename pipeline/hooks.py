"""Callbacks that the project registers: events of runs, and what studies hide. Missed events are caught by a sweep."""

from __future__ import annotations

import logging
from collections.abc import Callable

from django.contrib.auth.models import User
from django.db.models import QuerySet

from pipeline.models import Action, Run

logger = logging.getLogger(__name__)

Listener = Callable[[int], None]

run_settled: Listener | None = None
used_unreviewed: Listener | None = None

# Mark, by annotations, what of each row the person must not see: `hides_verdict`, `hides_models` and
# `hides_reference` of a run, `hides_reference` of an action. Without a rule, everything is shown.
mark_hidden_runs: Callable[[User, QuerySet[Run]], QuerySet[Run]] | None = None
mark_hidden_actions: Callable[[User, QuerySet[Action]], QuerySet[Action]] | None = None

# A person is shown what tells the verdict of a run.
note_shown: Callable[[User, Run], None] | None = None


def notify_run_settled(run_id: int) -> None:
    """A run has ended."""
    _notify(run_settled, run_id)


def notify_used_unreviewed(run_id: int) -> None:
    """Somebody used a script of this run before anybody had reviewed it."""
    _notify(used_unreviewed, run_id)


def _notify(listener: Listener | None, run_id: int) -> None:
    """A listener's failure is logged and stops nothing here."""
    if listener is None:
        return
    try:
        listener(run_id)
    except Exception:
        logger.exception("nobody took notice of run %s", run_id)
