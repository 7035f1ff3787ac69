"""The interface of an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

if TYPE_CHECKING:  # most processes that import this module never embed texts
    import numpy as np
    from numpy.typing import NDArray

Vectors: TypeAlias = "NDArray[np.float32]"


class EmbedderUnavailable(Exception):
    """The embedder can't run on this machine. The one-line message says how to fix the problem."""


@runtime_checkable
class Embedder(Protocol):
    """Embeds texts as vectors of unit length."""

    @property
    def name(self) -> str:
        """The name stored with each vector. The name changes whenever the vectors change."""

    @property
    def dimension(self) -> int:
        """The length of a vector."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one float32 row of length 1 for each text, in order. Raises `EmbedderUnavailable`."""
