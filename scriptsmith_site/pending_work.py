"""Find the periodic tasks that have work now, with one database query.

Most periodic tasks are a safety net and usually find nothing. The scheduler sends them rarely, and more often
only while matching rows exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import psycopg
from django.db import connection
from django.db.models import QuerySet

from core.database.prepared import fetch
from core.leased_jobs import UNFINISHED
from pipeline.models import MessageBatch, Run
from review.models import TallyDue
from scriptsmith_site.models import (
    AlertDelivery,
    Delivery,
    Event,
    Mirror,
    MirrorBranch,
    Notification,
)


def _work() -> Mapping[str, tuple[QuerySet[Any], ...]]:
    """Return querysets that find work, by the task's name in the schedule. No condition depends on the current time."""
    runs = Run.objects.unfinished()
    deliveries = Delivery.objects.filter(state=Delivery.State.WAITING)
    return {
        "sweep-runs": (runs,),
        "advance-message-batches": (
            runs,
            MessageBatch.objects.filter(state__in=MessageBatch.UNFINISHED),
        ),
        "count-due": (TallyDue.objects.all(),),
        "distribute-events": (
            Event.objects.filter(distributed_at=None),
            deliveries.filter(destination__paused_at=None),
        ),
        "write-mirror": (Mirror.objects.all(),),
        "send-due-mail": (Notification.objects.filter(mail_at__isnull=False),),
        # The process that finishes a run also adds it to the review queue and prepares its items.
        "take-in-finished-runs": (runs,),
        "prepare-items": (runs,),
        "take-in-missed-alerts": (AlertDelivery.objects.filter(state__in=UNFINISHED),),
        "read-missed-mirror-branches": (MirrorBranch.objects.filter(state__in=UNFINISHED),),
    }


@cache
def _query() -> tuple[tuple[str, ...], str]:
    """Return the names of the tasks, and a query with one column for each task.

    The values are part of the query's text. Otherwise, PostgreSQL would plan the query for any values and could not use
    partial indexes.
    """
    columns: list[str] = []
    values: list[Any] = []
    work = _work()
    for rows in work.values():
        exists = []
        for one in rows:
            sql, parameters = one.order_by().values("pk")[:1].query.sql_with_params()
            exists.append(f"EXISTS({sql})")
            values += parameters
        columns.append(" OR ".join(exists))
    connection.ensure_connection()
    cursor = psycopg.ClientCursor(connection.connection)
    return tuple(work), cursor.mogrify(f"SELECT {', '.join(columns)}", values)


def pending() -> set[str]:
    """Return the schedule names of the tasks that have work. Raises DatabaseError."""
    names, sql = _query()
    [row] = fetch(sql, ())
    return {name for name, has_work in zip(names, row, strict=True) if has_work}
