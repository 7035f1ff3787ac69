"""Preloads code in long-running processes, and tunes their garbage collection for shared memory."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from django.core.management import call_command
from django.db import connections
from django.template import engines
from django.urls import get_resolver

# New objects between two collections. A report creates some 50,000, all gone after its response. Python's default of
# 700 would start seventy collections in that time.
_BETWEEN_LOOKS = 10_000


def check_database() -> None:
    """Raise SystemCheckError if this machine must not use its database: another secret key, demo accounts.

    A database that does not answer yet passes.
    """
    try:
        call_command("check", tags=["database"], databases=["default"], stdout=sys.stderr)
    finally:
        connections.close_all()  # processes forked from this one must not share any


def load_ahead() -> None:
    """Load views with their URLs and templates, as the first pages would. Forked processes share them."""
    get_resolver().reverse_dict  # noqa: B018 - filled when it is asked for
    for engine in engines.all():
        for folder in engine.dirs:
            for path in Path(folder).rglob("*.html"):
                engine.get_template(str(path.relative_to(folder)))


def settle_memory() -> None:
    """Exclude everything loaded so far from garbage collection, so that forked processes share it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_BETWEEN_LOOKS)
