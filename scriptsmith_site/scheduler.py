"""The scheduler: Celery's own, which leaves a sign of life for the health check of its container."""

from __future__ import annotations

import logging
import socket
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from celery.beat import PersistentScheduler
from django.conf import settings

from scriptsmith_site.embedded import worker_healthcheck

logger = logging.getLogger(__name__)

_EVERY = 10.0  # seconds between two signs; it passes each second


class SignallingScheduler(PersistentScheduler):
    """Touches its file while it passes through what is due: one that hangs is started anew."""

    _signed_at = 0.0

    def tick(self, *arguments: Any, **options: Any) -> float:
        """Send what is due, and return the seconds until the next passage."""
        now = time.monotonic()
        if not self._signed_at or now - self._signed_at >= _EVERY:
            self._signed_at = now
            leave_sign(worker_healthcheck.SCHEDULER)
        seconds: float = super().tick(*arguments, **options)
        return seconds


def leave_sign(part: str) -> None:
    """Touch the file of this part; where that can't be done it is logged, and its work goes on."""
    sign: Path = worker_healthcheck.file_of(settings.LAYOUT.data, socket.gethostname(), part)
    try:
        sign.parent.mkdir(parents=True, exist_ok=True)
        sign.touch()
    except OSError:
        logger.warning("no sign of life could be left in %s", sign, exc_info=True)


def remove_sign(part: str) -> None:
    """A part that ends in order leaves no sign."""
    with suppress(OSError):
        worker_healthcheck.file_of(settings.LAYOUT.data, socket.gethostname(), part).unlink()
