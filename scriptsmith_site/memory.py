"""How a process that serves for long looks for waste: rarely, and not among what it needs for good."""

from __future__ import annotations

import gc

# New objects between two looks. A report makes some 50,000 that are all gone with its answer; by Python's own
# 700 they would be gone through seventy times meanwhile.
_BETWEEN_LOOKS = 10_000


def settle_memory() -> None:
    """What is loaded by now stays for good: forked processes share it, and nobody looks through it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_BETWEEN_LOOKS)
