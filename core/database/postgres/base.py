"""The database wrapper that Django finds by this module's name: connections kept for long, and checked cheaply."""

from __future__ import annotations

import select

import psycopg
from django.db.backends.postgresql import base
from psycopg.types.datetime import TimestamptzLoader
from psycopg.types.numeric import Int8BinaryDumper

Cursor = psycopg.RawCursor[tuple[object, ...]]


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's own, with a cursor for `core.database.planned`."""

    # Kept with the connection: what it has learnt of types serves the next statement.
    planned_cursor: Cursor

    def init_connection_state(self) -> None:
        """Statements of such a cursor are prepared at once, and a plan is kept whatever the values.

        Left to itself, PostgreSQL plans most of our queries anew each time: it takes a plan for these very values
        for a little cheaper, and leaves out what the planning costs.
        """
        super().init_connection_state()
        self.connection.prepare_threshold = 0
        self.connection.execute("SET plan_cache_mode = force_generic_plan")
        self.planned_cursor = psycopg.RawCursor(self.connection)
        # Whole numbers are of one type, whatever their size: else each combination of sizes would have a plan.
        self.planned_cursor.adapters.register_dumper(int, Int8BinaryDumper)
        # The driver's own, in C: Django's is for servers that keep another time than ours, which is always UTC.
        self.planned_cursor.adapters.register_loader("timestamptz", TimestamptzLoader)

    def is_usable(self) -> bool:
        """Whether the server still listens; asked before each request's first statement.

        A server that has ended the connection, or was killed, has left something to be read: else it need not
        be asked, which would cost each request one statement more. After an error it is asked.
        """
        if self.connection is None or self.connection.closed:
            return False
        if not self.errors_occurred and not _has_word_from(self.connection.fileno()):
            return True
        return super().is_usable()


def _has_word_from(socket: int) -> bool:
    poll = select.poll()
    poll.register(socket, select.POLLIN | select.POLLPRI)
    return bool(poll.poll(0))  # an end or an error is told in any case
