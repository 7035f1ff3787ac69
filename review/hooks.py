"""Let other apps register a callable that runs after a decision, such as a function that sends a notification.

The listener is called in the request that made the decision, after the commit. It should only enqueue a task. If the
process dies after the commit, the call is lost, so work that must not be lost needs a row that is written with the
decision.
"""

from __future__ import annotations

from functools import partial

from django.db import transaction

from core.listeners import Listener, notify

decision_made: Listener | None = None


def notify_decision_made(decision_id: int) -> None:
    """Call the listener when the current transaction commits. If it is rolled back, the listener is not called."""
    transaction.on_commit(partial(notify, decision_made, decision_id, event="decision made"))
