"""A hook where another app registers a function to call after each decision, for example to send a notification.

The request that made the decision calls the function after the commit. The function should only enqueue a task. If the
process crashes after the commit, the call is lost. Work that must not be lost therefore needs a row that is saved in
the decision's transaction.
"""

from __future__ import annotations

from functools import partial

from django.db import transaction

from core.listeners import Listener, notify

decision_made: Listener | None = None


def notify_decision_made(decision_id: int) -> None:
    """Call the listener when the current transaction commits.

    If the transaction is rolled back, the listener is not called.
    """
    transaction.on_commit(partial(notify, decision_made, decision_id, event="decision made"))
