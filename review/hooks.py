"""Callables that the project registers: what is to happen after a decision (a notification, say).

A listener is told once the decision is committed, in the request that made it: it is to enqueue a task and
return. It may miss a decision where the process dies in between; what must not be missed needs a row
written with the decision.
"""

from __future__ import annotations

from functools import partial

from django.db import transaction

from core.listeners import Listener, notify

decision_made: Listener | None = None


def notify_decision_made(decision_id: int) -> None:
    """Somebody decided on an item; tells the listener after the commit, and nobody where it is rolled back."""
    transaction.on_commit(partial(notify, decision_made, decision_id, event="decision made"))
