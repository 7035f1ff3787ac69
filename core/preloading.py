"""Preload code in long-running processes, and tune garbage collection for shared memory."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from django.core.management import call_command
from django.db import connections
from django.template import engines
from django.urls import get_resolver

# The number of new objects that triggers a garbage collection. A report creates about 50,000 temporary objects, for
# which Python's default of 700 would trigger 70 collections.
_BETWEEN_LOOKS = 10_000


def check_database() -> None:
    """Raise SystemCheckError if this machine must not use its database (different secret key, or demo accounts).

    Ignore a database that is not reachable yet.
    """
    try:
        call_command("check", tags=["database"], databases=["default"], stdout=sys.stderr)
    finally:
        connections.close_all()  # forked processes must not share connections


def load_ahead() -> None:
    """Load views, URLs and templates before the first request, so that forked processes share them."""
    get_resolver().reverse_dict  # noqa: B018 - the access fills the dictionary
    for engine in engines.all():
        for folder in engine.dirs:
            for path in Path(folder).rglob("*.html"):
                engine.get_template(str(path.relative_to(folder)))


def settle_memory() -> None:
    """Exclude all current objects from garbage collection, so that forked processes share their memory."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_BETWEEN_LOOKS)
