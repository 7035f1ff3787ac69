"""Record the tables that each transaction locked, in order, based on its SQL statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import connection
from psycopg.pq import TransactionStatus

# Transactions must lock these tables in this order (docs/decisions/2026-11-22-order-of-locks.md).
ORDER = ("pipeline_endpoint", "pipeline_batch", "pipeline_run", "pipeline_spending")
_STEP = re.compile(
    r'UPDATE\s+"?(?P<updated>pipeline_\w+)|DELETE\s+FROM\s+"?(?P<deleted>pipeline_\w+)'
    r'|INSERT\s+INTO\s+"?(?P<inserted>pipeline_spending)'
    r'|FROM\s+"?(?P<read>pipeline_\w+)|\bFOR\s+(?P<strength>(?:NO KEY )?UPDATE|SHARE|KEY SHARE)\b'
)


def locks_of(sql: str) -> list[tuple[str, str]]:
    """Return the tables that an SQL statement locks, with the strength of each lock, in text order."""
    found, read = [], ""
    for step in _STEP.finditer(sql):
        if step["read"]:
            # In a join, the first table is the locked one.
            read = step["read"]
        elif step["strength"]:
            found.append((read, step["strength"]))
        elif step["updated"]:
            found.append((step["updated"], "NO KEY UPDATE"))
        else:
            found.append((step["deleted"] or step["inserted"], "UPDATE"))
    return found


@contextmanager
def noted_locks() -> Iterator[list[list[str]]]:
    """Yield the tables in ORDER that each transaction of this connection locked, sorted by first lock.

    Raises AssertionError if a table is locked after a later table in ORDER, or if a lock blocks rows that refer to the
    locked row.
    """
    transactions: list[list[str]] = []

    def note(
        execute: Callable[..., object], sql: str, params: object, many: bool, context: object
    ) -> object:
        if connection.connection.info.transaction_status == TransactionStatus.IDLE:
            transactions.append([])
        for table, strength in locks_of(sql):
            if table in ORDER:
                _check(transactions[-1], table, strength, sql)
        return execute(sql, params, many, context)

    connection.ensure_connection()
    with connection.execute_wrapper(note):
        yield transactions


def _check(held: list[str], table: str, strength: str, sql: str) -> None:
    if strength == "UPDATE" and table in ("pipeline_endpoint", "pipeline_batch"):
        raise AssertionError(f"rows that refer to {table} would wait: NO KEY is missing\n{sql}")
    if table in held:
        return
    later = [other for other in held if ORDER.index(other) > ORDER.index(table)]
    assert not later, f"{table} is locked after {', '.join(later)}\n{sql}"
    held.append(table)
