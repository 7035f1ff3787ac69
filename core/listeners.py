"""Callbacks that the composition root registers for events. A failing callback does not stop the caller."""

from __future__ import annotations

import logging
from collections.abc import Callable

logger = logging.getLogger(__name__)

# A listener is called with the primary key of the event's object.
Listener = Callable[[int], None]


def notify(listener: Listener | None, key: int, *, event: str) -> None:
    """Call the listener, if any. An exception is logged with the event's name and not raised."""
    if listener is None:
        return
    try:
        listener(key)
    except Exception:
        logger.exception("the listener for “%s” failed at %s", event, key)
