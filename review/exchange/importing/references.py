"""Foreign keys of many rows checked at once, as sets, where PostgreSQL would check them key by key.

Its triggers take 3.7 microseconds for each key of each row, and a row of an import has nine: half of all its time.
Here the same is asked in a statement for each foreign key: is everything there that the new rows name? And it is
locked as the triggers lock it (FOR KEY SHARE), so that it stays there until the transaction ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import IntegrityError, connection
from django.db.models import ForeignKey
from psycopg import sql

from core.database.bulk_copy import Table


@contextmanager
def referring_at_once() -> Iterator[list[Table]]:
    """Tables that are filled in the block and noted in its list are checked at its end; inside a transaction.

    Without the right to set `session_replication_role` (a superuser has it, others by GRANT) the triggers do it, at the
    transaction's end. Raises IntegrityError where a row names what is not there; the transaction must then be undone.
    """
    filled: list[Table] = []
    if not _stop_triggers():
        yield filled
        return
    yield filled
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('session_replication_role', 'origin', true)")
    for table in filled:
        if table.span:
            _check(table, table.span)


def _stop_triggers() -> bool:
    """Until the transaction ends or they are started again; whether this role may."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('session_replication_role', 'replica', true)"
            " WHERE has_parameter_privilege('session_replication_role', 'SET')"
        )
        return cursor.fetchone() is not None


def _check(table: Table, span: tuple[int, int]) -> None:
    """Every foreign key of the rows between two keys: those are ours, or of others and checked before."""
    keys = [key for key in table.model._meta.concrete_fields if isinstance(key, ForeignKey)]
    new = sql.SQL("FROM {table} WHERE id BETWEEN {first} AND {last}").format(
        table=sql.Identifier(table.model._meta.db_table), first=span[0], last=span[1]
    )
    with connection.cursor() as cursor:
        counts = [sql.SQL("count({})").format(sql.Identifier(key.attname)) for key in keys]
        cursor.execute(sql.SQL("SELECT {} {}").format(sql.SQL(", ").join(counts), new))
        for key, named in zip(keys, cursor.fetchone(), strict=True):
            if named:
                _check_key(key, new)


def _check_key(key: ForeignKey[object, object], new: sql.Composed) -> None:
    """Lock what the new rows name. Raises IntegrityError where some of it is not there."""
    parent = key.related_model._meta.db_table
    # By an array, for the planner knows nothing yet of rows that have just come.
    query = sql.SQL(
        """
        WITH named AS MATERIALIZED (SELECT DISTINCT {column} AS key {new} AND {column} IS NOT NULL),
            there AS MATERIALIZED (
                SELECT FROM {parent} WHERE id = ANY(ARRAY(SELECT key FROM named)) FOR KEY SHARE
            )
        SELECT (SELECT count(*) FROM named) - (SELECT count(*) FROM there)
        """
    ).format(column=sql.Identifier(key.attname), new=new, parent=sql.Identifier(parent))
    with connection.cursor() as cursor:
        cursor.execute(query)
        missing = cursor.fetchone()[0]
    if missing:
        raise IntegrityError(
            f"{missing} of the rows of {parent} that {key.attname} names are not there"
        )
