"""Agreement coefficients (kappa, alpha, AC1 and AC2) for many tables at once. Undefined coefficients are NaN.

A table for two reviewers contains the 3 x 3 counts of their scores. Leading dimensions are for multiple tables. A
penalty is 0 for equal values and grows with their distance. A criterion is a penalty of 1 for values on different sides
of its threshold.

Sources: Cohen 1960 and 1968 for kappa; Krippendorff, Content Analysis, for alpha and its ordinal metric; Gwet 2008 for
AC1; Gwet 2014, Handbook of Inter-Rater Reliability (4th edition), for AC2, ordinal weights and missing values, as in
his R package irrCAC; Fleiss 1971.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from core.lazy_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Floats: TypeAlias = "NDArray[np.float64]"


@cache
def penalties() -> dict[str, Floats]:
    """Return the penalties by name. Each is a matrix with the penalty for each pair of values."""
    steps = np.abs(np.subtract.outer(np.arange(3), np.arange(3))).astype(np.float64)
    return {
        "nominal": (steps > 0).astype(np.float64),
        "linear": steps,
        "quadratic": steps**2,
        "strict": _cut(2),
        "partial": _cut(1),
    }


def _cut(least: int) -> Floats:
    right = np.arange(3) >= least
    return np.not_equal.outer(right, right).astype(np.float64)


ALPHAS = ("nominal", "ordinal", "interval")


def percents_of(tables: Floats, penalty: Floats) -> Floats:
    """Return the share of items on which both reviewers agree, for penalties of 0 and 1. No table may be empty."""
    share: Floats = 1 - _cost(tables, penalty) / tables.sum(axis=(-2, -1))
    return share


def kappas_of(tables: Floats, penalty: Floats) -> Floats:
    """Return Cohen's kappa: 1 minus the ratio of the observed penalty to the penalty expected from the margins.

    Kappa is undefined if the expected penalty is 0.
    """
    expected = _cost(tables.sum(axis=-1)[..., :, None] * tables.sum(axis=-2)[..., None, :], penalty)
    return _one_less(_cost(tables, penalty) * tables.sum(axis=(-2, -1)), expected)


def alphas_of(multisets: Floats, times: Floats, metric: str) -> Floats:
    """Return Krippendorff's alpha for many samples of the same kinds of items. Alpha is undefined for constant values.

    `multisets` (kinds x 3) contains the numbers of scores of 0, 1 and 2, at least two in total. `times` (samples x
    kinds) contains the number of items of each kind in a sample. `metric` is nominal, ordinal or interval.
    """
    raters = multisets.sum(axis=1)
    together = multisets[:, :, None] * multisets[:, None, :]
    together -= multisets[:, :, None] * np.eye(3)
    together /= (raters - 1)[:, None, None]
    tables = np.tensordot(times, together, axes=1)
    margins = tables.sum(axis=-1)
    penalty = _ordinal(margins) if metric == "ordinal" else penalties()[_FIXED[metric]]
    expected = _cost(margins[:, :, None] * margins[:, None, :], penalty)
    return _one_less(_cost(tables, penalty) * (margins.sum(axis=-1) - 1), expected)


def percent_of(multisets: Floats, times: Floats) -> Floats:
    """Return the proportion of agreeing pairs of scores for many samples. Without pairs, the result is undefined."""
    raters = multisets.sum(axis=1)
    agreeing = times @ (multisets * (multisets - 1)).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share: Floats = agreeing / (times @ (raters * (raters - 1)))
    return share


def ac1_of(multisets: Floats, times: Floats) -> Floats:
    """Return Gwet's AC1 for the categories right and wrong under the strict criterion."""
    right = multisets[:, 2]
    return gwet_of(np.stack([multisets.sum(axis=1) - right, right], axis=1), times, np.eye(2))


def ac2_of(multisets: Floats, times: Floats) -> Floats:
    """Return Gwet's AC2 for the scores 0, 1 and 2 with ordinal weights."""
    return gwet_of(multisets, times, ordinal_weights(3))


def ordinal_weights(size: int) -> Floats:
    """Return Gwet's ordinal weights: 1 minus the share of all category pairs that lie within the range from one
    category to the other.
    """
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    weights: Floats = 1 - steps * (steps + 1) / (size * (size - 1))
    return weights


def gwet_of(multisets: Floats, times: Floats, weights: Floats) -> Floats:
    """Return Gwet's coefficient with these weights for many samples. Identity weights produce AC1.

    Items with one score affect only the shares of the categories.
    """
    raters, size = multisets.sum(axis=1), len(weights)
    is_shared = raters > 1
    pairs = np.where(is_shared, raters * (raters - 1), 1)
    agreeing = (multisets * (multisets @ weights - 1)).sum(axis=1) * is_shared / pairs
    with np.errstate(divide="ignore", invalid="ignore"):
        observed = times @ agreeing / (times @ is_shared.astype(np.float64))
        shares = times @ (multisets / raters[:, None]) / times.sum(axis=1)[:, None]
        expected = weights.sum() / (size * (size - 1)) * (shares * (1 - shares)).sum(axis=1)
        found: Floats = (observed - expected) / (1 - expected)
    return found


def fleiss_of(multisets: Floats, times: Floats) -> Floats:
    """Return Fleiss' kappa for items with equal numbers of scores. Kappa is undefined for constant values."""
    raters = multisets.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        within = ((multisets * (multisets - 1)).sum(axis=1)) / (raters * (raters - 1))
        observed = times @ within / times.sum(axis=1)
        margins = times @ multisets
        margins = margins / margins.sum(axis=1, keepdims=True)
        expected = (margins**2).sum(axis=1)
        found: Floats = np.where(expected < 1, (observed - expected) / (1 - expected), np.nan)
    return found


# Penalty names by metric of alpha. The penalty for "ordinal" depends on the scores.
_FIXED = {"nominal": "nominal", "interval": "quadratic"}


def _cost(tables: Floats, penalty: Floats) -> Floats:
    cost: Floats = (tables * penalty).sum(axis=(-2, -1))
    return cost


def _one_less(paid: Floats, expected: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(expected > 0, 1 - paid / expected, np.nan)


def _ordinal(margins: Floats) -> Floats:
    """Return Krippendorff's ordinal metric: the squared number of scores between two values, with each end halved."""
    upto = np.cumsum(margins, axis=-1) - margins / 2
    distance: Floats = (upto[:, :, None] - upto[:, None, :]) ** 2
    return distance
