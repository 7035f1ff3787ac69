"""How often and how soon something that dies is started again."""

from __future__ import annotations

import time

_FIRST_DELAY_SECONDS = 0.5
_MOST_IN_A_ROW = 5
_STABLE_SECONDS = 60.0


class Restarts:
    """The restarts of one program; those in a row come ever later, and then no more."""

    def __init__(self) -> None:
        self.due_at: float | None = None
        self._in_a_row = 0
        self._started_at = time.monotonic()

    def note_end(self) -> bool:
        """Set when the next start is due; False where it has been started in vain too often.

        A start that failed is an end too.
        """
        now = time.monotonic()
        if now - self._started_at > _STABLE_SECONDS:
            self._in_a_row = 0
        self._in_a_row += 1
        self._started_at = now
        self.due_at = now + _FIRST_DELAY_SECONDS * 2 ** (self._in_a_row - 1)
        return self._in_a_row <= _MOST_IN_A_ROW

    def note_start(self) -> None:
        self.due_at = None
        self._started_at = time.monotonic()
