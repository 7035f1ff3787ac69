"""What a process that serves for long loads before it begins, and how it looks for waste: rarely, and elsewhere."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

from django.core.management import call_command
from django.db import connections
from django.template import engines
from django.urls import get_resolver

# New objects between two looks. A report makes some 50,000 that are all gone with its answer; by Python's own
# 700 they would be gone through seventy times meanwhile.
_BETWEEN_LOOKS = 10_000


def check_database() -> None:
    """Raise SystemCheckError where this machine must not work on its database: another secret key, demo accounts.

    One that does not answer yet decides nothing.
    """
    try:
        call_command("check", tags=["database"], databases=["default"], stdout=sys.stderr)
    finally:
        connections.close_all()  # processes that part from this one must not share any


def load_ahead() -> None:
    """Load what the first pages would: views with their addresses, and templates. Forked processes share it."""
    get_resolver().reverse_dict  # noqa: B018 - filled when it is asked for
    for engine in engines.all():
        for folder in engine.dirs:
            for path in Path(folder).rglob("*.html"):
                engine.get_template(str(path.relative_to(folder)))


def settle_memory() -> None:
    """What is loaded by now stays for good: forked processes share it, and nobody looks through it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_BETWEEN_LOOKS)
