"""Signal handling in one place, so that signals do not interrupt code at arbitrary points."""

from __future__ import annotations

import os
import select
import signal
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """A counter of stop requests. `wait` also returns when a child exits.

    While `interrupts` is true, a request raises KeyboardInterrupt instead.
    """

    def __init__(self) -> None:
        self.interrupts = True
        self.requests_to_end = 0
        self._reader, writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        for number in _ENDING:
            # Under `nohup`, SIGHUP is ignored and must stay ignored.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._note)

    def wait(self, seconds: float) -> bool:
        """Wait up to `seconds` for a signal, and return whether one arrived."""
        if not select.select([self._reader], [], [], seconds)[0]:
            return False
        os.read(self._reader, 4096)
        return True

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.interrupts:
            raise KeyboardInterrupt
        self.requests_to_end += 1
