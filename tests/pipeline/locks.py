"""Which tables' rows each transaction locked, in which order: noted from the statements as they are carried out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.db import connection
from psycopg.pq import TransactionStatus

# The order in which a transaction may lock them (docs/decisions/2026-11-22-order-of-locks.md).
ORDER = ("pipeline_endpoint", "pipeline_batch", "pipeline_run", "pipeline_spending")
_STEP = re.compile(
    r'UPDATE\s+"?(?P<updated>pipeline_\w+)|DELETE\s+FROM\s+"?(?P<deleted>pipeline_\w+)'
    r'|INSERT\s+INTO\s+"?(?P<inserted>pipeline_spending)'
    r'|FROM\s+"?(?P<read>pipeline_\w+)|\bFOR\s+(?P<strength>(?:NO KEY )?UPDATE|SHARE|KEY SHARE)\b'
)


def locks_of(sql: str) -> list[tuple[str, str]]:
    """What a statement locks, in the order in which it is written: tables, each with how strongly."""
    found, read = [], ""
    for step in _STEP.finditer(sql):
        if step["read"]:
            # Of a join, what is locked is named first.
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
    """For each transaction of this thread's connection the tables in ORDER that it locked, as it comes to them first.

    Raises AssertionError where one is locked after a later one, or so that rows which refer to it would wait.
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
