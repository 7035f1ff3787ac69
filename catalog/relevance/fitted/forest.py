"""Evaluate gradient boosted trees that are stored as plain arrays, with numpy as the only dependency."""

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
    """A forest as JSON. One list contains the nodes of all trees. A leaf points to itself."""

    features: list[str]
    base: float
    depth: int
    roots: list[int]
    feature: list[int]  # index of the feature that a node tests
    threshold: list[float]  # values up to the threshold take the left branch
    left: list[int]
    right: list[int]
    value: list[float]  # log-odds of a leaf


@dataclass(frozen=True, slots=True, eq=False)
class Forest:
    """Trees whose leaf values add up to log-odds."""

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
        """Create a forest from its document."""
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
        """Return the log-odds of each row. Raise KeyError if a row lacks a feature."""
        table = np.array([[row[name] for name in self.features] for row in rows])
        table = table.reshape(len(rows), len(self.features))
        each = np.arange(len(rows))[:, None]
        node = np.broadcast_to(self.roots, (len(rows), len(self.roots)))
        for _ in range(self.depth):
            goes_left = table[each, self.feature[node]] <= self.threshold[node]
            node = np.where(goes_left, self.left[node], self.right[node])
        scores: Floats = self.base + self.value[node].sum(axis=1)
        return scores
