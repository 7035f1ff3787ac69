"""What the composition root wants to be told of; nobody has to listen, and the sweep catches what was missed."""

from __future__ import annotations

import logging
from collections.abc import Callable

logger = logging.getLogger(__name__)

run_settled: Callable[[int], None] | None = None


def tell_settled(run_id: int) -> None:
    """Say that a run came to rest. A listener's failure is logged and stops nothing here."""
    if run_settled is None:
        return
    try:
        run_settled(run_id)
    except Exception:
        logger.exception("nobody took notice of run %s", run_id)
