"""The schedule for restarting programs that have exited."""

from __future__ import annotations

import math
import time

_FIRST_DELAY_SECONDS = 0.5
_LONGEST_DELAY_SECONDS = 60.0
_MOST_IN_A_ROW = 5
_STABLE_SECONDS = 60.0


class Restarts:
    """The restarts of one program. The delay doubles with each consecutive exit, up to a minute."""

    def __init__(self) -> None:
        self.due_at: float | None = None
        self._in_a_row = 0
        self._started_at = time.monotonic()

    def note_end(self) -> bool:
        """Schedule the next start. Return False after more than five consecutive exits.

        A failed start counts as an exit.
        """
        now = time.monotonic()
        if now - self._started_at > _STABLE_SECONDS:
            self._in_a_row = 0
        self._in_a_row += 1
        self._started_at = math.inf  # until `note_start`, because a long delay is not a stable run
        delay = _FIRST_DELAY_SECONDS * 2 ** min(self._in_a_row - 1, 10)
        self.due_at = now + min(delay, _LONGEST_DELAY_SECONDS)
        return self._in_a_row <= _MOST_IN_A_ROW

    def note_start(self) -> None:
        self.due_at = None
        self._started_at = time.monotonic()
