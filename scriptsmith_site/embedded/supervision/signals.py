"""Collects signals in one place, so that they do not interrupt code at arbitrary points."""

from __future__ import annotations

import os
import select
import signal
from types import FrameType

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Signals:
    """Counts requests to stop, and also wakes up when a child ends.

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
            # `nohup` ignores SIGHUP from the start, and that must stay so.
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._note)

    def wait(self, seconds: float) -> bool:
        """Wait at most this long for a signal, and return whether one arrived."""
        if not select.select([self._reader], [], [], seconds)[0]:
            return False
        os.read(self._reader, 4096)
        return True

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.interrupts:
            raise KeyboardInterrupt
        self.requests_to_end += 1
