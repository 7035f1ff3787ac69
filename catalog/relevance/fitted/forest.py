"""Gradient boosted trees as plain arrays, so that nothing but numpy is needed to ask them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, TypedDict

from core.lazy_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"
Integers: TypeAlias = "NDArray[np.int64]"


class ForestDocument(TypedDict):
    """A forest as JSON: the nodes of all trees one after the other, a leaf leads to itself."""

    features: list[str]
    base: float
    depth: int
    roots: list[int]
    feature: list[int]  # which feature a node asks about
    threshold: list[float]  # at most this goes left
    left: list[int]
    right: list[int]
    value: list[float]  # of a leaf, in log-odds


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Trees whose leaves add up to log-odds."""

    features: tuple[str, ...]
    base: float
    depth: int
    roots: Integers
    feature: Integers
    threshold: Floats
    left: Integers
    right: Integers
    value: Floats

    @classmethod
    def from_document(cls, document: ForestDocument) -> Forest:
        """The forest that a document describes."""
        left, right = np.array(document["left"]), np.array(document["right"])
        return cls(
            features=tuple(document["features"]),
            base=document["base"],
            depth=document["depth"],
            roots=np.array(document["roots"]),
            feature=np.array(document["feature"]),
            threshold=np.array(document["threshold"]),
            left=left,
            right=right,
            value=np.array(document["value"]),
        )

    def score(self, rows: Sequence[Mapping[str, float]]) -> Floats:
        """Log-odds of each row; a feature that a row lacks is an error (KeyError)."""
        table = np.array([[row[name] for name in self.features] for row in rows])
        table = table.reshape(len(rows), len(self.features))
        each = np.arange(len(rows))[:, None]
        node = np.broadcast_to(self.roots, (len(rows), len(self.roots)))
        for _ in range(self.depth):
            goes_left = table[each, self.feature[node]] <= self.threshold[node]
            node = np.where(goes_left, self.left[node], self.right[node])
        scores: Floats = self.base + self.value[node].sum(axis=1)
        return scores
