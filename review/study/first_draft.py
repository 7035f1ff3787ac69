"""The Draft that the first verdict is about: the one whose script is scored first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from pipeline.types import DraftKind

# The Draft that the first verdict is about is the last of these: after a syntax repair, the repaired one.
FIRST_KINDS = (DraftKind.GENERATED, DraftKind.REPAIRED, DraftKind.RETRIEVED, DraftKind.IMPORTED)


class _OfKind(Protocol):
    """A Draft, or what was read of one."""

    @property
    def kind(self) -> str: ...
    @property
    def refinement_id(self) -> int | None: ...


_Any = TypeVar("_Any", bound=_OfKind)


def first_draft_of(drafts: Sequence[_Any]) -> _Any | None:
    """Of a run's Drafts in order, the one the first verdict is about: after a syntax repair, the repaired."""
    firsts = [
        draft for draft in drafts if draft.kind in FIRST_KINDS and draft.refinement_id is None
    ]
    return firsts[-1] if firsts else None
