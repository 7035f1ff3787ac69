"""Find a run's first Draft, which the assessor and the reviewers judge first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from pipeline.types import DraftKind

# Drafts of these kinds precede refinement. The last of them counts, because a syntax repair replaces its original.
FIRST_KINDS = (DraftKind.GENERATED, DraftKind.REPAIRED, DraftKind.RETRIEVED, DraftKind.IMPORTED)


class _OfKind(Protocol):
    """A Draft, or an object with some of its fields."""

    @property
    def kind(self) -> str: ...
    @property
    def refinement_id(self) -> int | None: ...


_Any = TypeVar("_Any", bound=_OfKind)


def first_draft_of(drafts: Sequence[_Any]) -> _Any | None:
    """Return the first Draft, to which the first verdict refers. `drafts` are a run's Drafts in order."""
    firsts = [
        draft for draft in drafts if draft.kind in FIRST_KINDS and draft.refinement_id is None
    ]
    return firsts[-1] if firsts else None
