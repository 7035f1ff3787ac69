"""Finds the Draft that the first verdict is about, whose script is scored first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from pipeline.types import DraftKind

# The first verdict is about the last Draft of these kinds. After a syntax repair, this is the repaired Draft.
FIRST_KINDS = (DraftKind.GENERATED, DraftKind.REPAIRED, DraftKind.RETRIEVED, DraftKind.IMPORTED)


class _OfKind(Protocol):
    """A Draft, or fields that were read from a Draft."""

    @property
    def kind(self) -> str: ...
    @property
    def refinement_id(self) -> int | None: ...


_Any = TypeVar("_Any", bound=_OfKind)


def first_draft_of(drafts: Sequence[_Any]) -> _Any | None:
    """Return the Draft that the first verdict is about, from a run's Drafts in order."""
    firsts = [
        draft for draft in drafts if draft.kind in FIRST_KINDS and draft.refinement_id is None
    ]
    return firsts[-1] if firsts else None
