"""Calculate the figures of a Configuration from its item patterns: shares, intervals and accompanying counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from core.lazy_numpy import np
from pipeline.types import Verdict
from review.study.compare import MOST_OPEN
from review.study.criteria import Outlook, Patterns, highest, lowest, made_patterns
from review.study.definitions import FIGURES as FIGURES
from review.study.definitions import Definition, Object, objects_of
from review.study.repeated import Adds, Repeated, is_made, share_of
from review.study.repeated import Clusters as Clusters
from review.study.statistics.intervals import Cluster, Difference, Share
from review.study.statistics.p_values import mcnemar_exact
from review.study.types import Criterion, FinalScore, ItemPattern, Origin

if TYPE_CHECKING:
    from numpy.typing import NDArray

EXECUTION_REASONS = ("different_interpretation", "too_strict", "wrong_expected_output", "other")
NOT_SAID = "not_said"
NOT_PART = "not part of this study"
NOTHING_TO_COUNT = "no data yet"
_BY_NAME = {figure.name: figure for figure in FIGURES}
Bounds = tuple[float, float]


@dataclass(frozen=True)
class Figure:
    """A figure as the report shows it.

    `share` includes the finished items and excludes the `open` items. Of these, `unresolved` items are waiting for an
    adjudicator, and `pending` items for scores. `bounds` cover every possible result of the open items. If items are
    open, `range` contains the bounds over all scored items, and `post_stratified` is the value weighted by the four
    strata of `_Sums`. Both exist only for `is_ranged` figures. `reason` explains a missing value.
    """

    definition: Definition
    share: Share
    open: int
    unresolved: int
    bounds: Bounds | None
    range: Bounds | None
    post_stratified: float | None
    reason: str
    beside: dict[str, object]

    @property
    def pending(self) -> int:
        return self.open - self.unresolved

    def as_json(self) -> dict[str, object]:
        found = {
            **self.share.as_json(),
            **self.beside,
            "open": self.open,
            "unresolved": self.unresolved,
            "pending": self.pending,
            "bounds": list(self.bounds) if self.bounds else None,
            "deff": self.share.deff,
            "reason": self.reason or None,
        }
        if self.definition.is_ranged:
            found["range"] = list(self.range) if self.range else None
            found["post_stratified"] = self.post_stratified
        return found


def work_out_figures(
    patterns: Patterns, clusters: Clusters | None = None
) -> dict[Criterion, dict[str, Figure]]:
    """Return every figure under both criteria, by name and in report order.

    The figures exclude items answered from the catalogue. `clusters` are the statements with more than one item.
    """
    objects = objects_of(patterns)
    models, executed = _reduce(patterns)
    return {
        criterion: _work_out(models, executed, clusters or {}, criterion, objects)
        for criterion in Criterion
    }


def reduce_to_figures(pattern: ItemPattern) -> ItemPattern:
    """Return the pattern without data that clusters do not need, to store fewer patterns per statement.

    For an item answered from the catalogue, clusters need only the final score of the script.
    """
    if not is_made(pattern):
        return ItemPattern(pattern.script, origin=Origin.RETRIEVED)
    return pattern._replace(execution_reason="", length=None, was_skipped=False)


def patterns_behind(
    patterns: Patterns, name: str, criterion: Criterion, *, only_numerator: bool = False
) -> Iterator[ItemPattern]:
    """Yield the patterns of the items in a figure's denominator or numerator. Raises KeyError for an unknown figure."""
    part = _BY_NAME[name].part
    if not objects_of(patterns).issuperset(_BY_NAME[name].needs):
        return
    for pattern in patterns:
        if pattern.origin is not Origin.RETRIEVED:
            added = Outlook(pattern, criterion).closed(part)
            if added or (added is not None and not only_numerator):
                yield pattern


def patterns_open(patterns: Patterns, name: str, criterion: Criterion) -> Iterator[ItemPattern]:
    """Yield the patterns of a figure's open items. Raises KeyError for an unknown figure."""
    part = _BY_NAME[name].part
    if not objects_of(patterns).issuperset(_BY_NAME[name].needs):
        return
    for pattern in patterns:
        if pattern.origin is not Origin.RETRIEVED and Outlook(pattern, criterion).is_open(part):
            yield pattern


class _Sums(NamedTuple):
    """The sums of the items' contributions to a figure.

    `strata` divides the scored items by script (right or wrong) and verdict (flagged or not).
    """

    numerator: int
    denominator: int
    low: tuple[int, int]
    high: tuple[int, int]
    scored_low: tuple[int, int]
    scored_high: tuple[int, int]
    open: int
    unresolved: int
    scored_open: int
    strata: tuple[tuple[int, int, int], ...]  # right, closed, all
    beside: dict[str, int]


_PLAIN, _STRATA = 13, 12


def _work_out(
    models: Patterns,
    executed: Patterns,
    clusters: Clusters,
    criterion: Criterion,
    objects: frozenset[Object],
) -> dict[str, Figure]:
    sums, table = _sum_up(models, criterion)
    sums["execution_agreement"] = _sum_up(executed, criterion)[0]["execution_agreement"]
    statements = Repeated(clusters)
    repeated = _repeated(statements, criterion) if statements else None
    every = {
        "repaired_as_wrong": share_of(models, _repaired_as_wrong(criterion), statements),
        "coverage": share_of(models, _coverage(criterion), statements),
    }
    return {
        definition.name: _figure(
            definition,
            sums,
            repeated,
            table,
            every,
            reason="" if objects.issuperset(definition.needs) else NOT_PART,
            reasons=_reasons(definition, executed, criterion),
        )
        for definition in FIGURES
    }


def _figure(
    definition: Definition,
    sums: Mapping[str, _Sums],
    repeated: _Repeated | None,
    table: tuple[int, int, int, int],
    shares: Mapping[str, Share],
    *,
    reason: str,
    reasons: dict[str, int],
) -> Figure:
    own = sums[definition.name]
    beside: dict[str, object] = dict(own.beside)
    if reason:
        own = own._replace(numerator=0, denominator=0, open=0, unresolved=0)
    every = None if repeated is None else _statements(definition, own, repeated, table)
    if definition.name == "net" and own.denominator:
        share, p_value = _net(table, every)
        is_told = own.open <= MOST_OPEN * (own.open + own.denominator)
        beside["p_value"] = p_value if is_told else None
    else:
        share = Share.of(own.numerator, own.denominator, clusters=every)
        if definition.name == "net":
            beside["p_value"] = None
    if definition.name == "first_pass_accuracy":
        beside["repaired_as_wrong"] = shares["repaired_as_wrong"].as_json()
    if definition.name == "assessor_recall":
        beside["coverage"] = shares["coverage"].as_json()
    if definition.name == "execution_agreement":
        beside["reasons"] = reasons
    is_ranged = definition.is_ranged and own.scored_open and not reason
    return Figure(
        definition,
        share,
        own.open,
        own.unresolved,
        None if reason else _bounds(own.low, own.high),
        _bounds(own.scored_low, own.scored_high) if is_ranged else None,
        _post_stratify(own) if is_ranged else None,
        reason or ("" if share.value is not None else NOTHING_TO_COUNT),
        beside,
    )


def _repaired_as_wrong(criterion: Criterion) -> Adds:
    """Return a function that computes an item's contribution if repaired scripts count as wrong."""

    def adds(pattern: ItemPattern) -> int | None:
        right = pattern.script.right(criterion)
        return None if right is None else int(right and pattern.origin is not Origin.REPAIRED)

    return adds


def _coverage(criterion: Criterion) -> Adds:
    """Return a function that computes an item's contribution to the share of items that were passed or flagged."""

    def adds(pattern: ItemPattern) -> int | None:
        if pattern.script.right(criterion) is None:
            return None
        return int(pattern.verdict in (Verdict.CORRECT, Verdict.INCORRECT))

    return adds


def _bounds(low: tuple[int, int], high: tuple[int, int]) -> Bounds | None:
    """Return the lowest and highest possible share, or None if the figure can't include any item.

    If the denominator is 0 in the lowest case, the lower bound is 1. If it is 0 in the highest case, the upper bound
    is 0.
    """
    if not (low[1] or high[1]):
        return None
    return (low[0] / low[1] if low[1] else 1.0, high[0] / high[1] if high[1] else 0.0)


def _post_stratify(own: _Sums) -> float | None:
    """Return the value under the assumption that open items are like the closed items of their stratum.

    Return None if a stratum has no closed items.
    """
    total = sum(every for _right, _closed, every in own.strata)
    value = 0.0
    for right, closed, every in own.strata:
        if every and not closed:
            return None
        if every:
            value += every / total * right / closed
    return value if total else None


def _net(
    table: tuple[int, int, int, int], every: list[Cluster] | None
) -> tuple[Share, float | None]:
    """Return the net gain of refinement, and its p value."""
    both, lost, gained, neither = table
    change = Difference.of(both=both, lost=lost, gained=gained, neither=neither, clusters=every)
    net = Share(gained - lost, change.items, change.value, change.low, change.high, change.deff)
    return net, mcnemar_exact(gained, lost)


# --- Sums over items ----------------------------------------------------------------------------------------------


# The default values of fields that most figures do not use.
_OF_OTHER_TABLES: dict[str, Any] = {
    name: ItemPattern._field_defaults[name]
    for name in (
        "execution",
        "execution_reason",
        "expert",
        "expert_by_all",
        "length",
        "was_skipped",
        "later",
    )
}


def _reduce(patterns: Patterns) -> tuple[Patterns, Patterns]:
    """Return reduced patterns for the model figures and for the execution figure, to process fewer patterns."""
    models: Counter[ItemPattern] = Counter()
    executed: Counter[ItemPattern] = Counter()
    for pattern, times in made_patterns(patterns):
        models[pattern._replace(**_OF_OTHER_TABLES)] += times
        if pattern.execution is not None:
            reduced = ItemPattern(
                pattern.script,
                execution=pattern.execution,
                execution_reason=pattern.execution_reason,
            )
            executed[reduced] += times
    return models, executed


def _sum_up(
    patterns: Patterns, criterion: Criterion
) -> tuple[dict[str, _Sums], tuple[int, int, int, int]]:
    """Return the sums for every figure, and the counts for the net gain: both right, lost, gained, neither."""
    alike: Counter[ItemPattern] = Counter()
    for pattern, times in patterns.items():
        alike[_under(pattern, criterion)] += times
    rows = np.array([_row(pattern, criterion) for pattern in alike] or [(0,) * _WIDTH])
    sums: NDArray[np.int64] = np.array(list(alike.values()) or [0], dtype=np.int64) @ rows
    left = iter(sums.tolist())
    read = {figure.name: _read(figure, left) for figure in FIGURES}
    both, lost, gained, neither = left
    return read, (both, lost, gained, neither)


def _under(pattern: ItemPattern, criterion: Criterion) -> ItemPattern:
    """Return the pattern with each score replaced by its result under the criterion, to merge equal patterns."""
    values = _VALUES[criterion]
    return pattern._replace(
        script=values[pattern.script],
        feedback=values[pattern.feedback],
        refined=values[pattern.refined],
        advised=values[pattern.advised],
    )


def _value_under(final: FinalScore, criterion: Criterion) -> FinalScore:
    right = final.right(criterion)
    if right is not None:
        return FinalScore.CORRECT if right else FinalScore.INCORRECT
    return FinalScore.UNRESOLVED if final.is_unresolved(criterion) else final


_VALUES = {
    criterion: {final: _value_under(final, criterion) for final in FinalScore}
    for criterion in Criterion
}


# Cached because reports process the same patterns. The number of different patterns is bounded.
@lru_cache(maxsize=16_384)
def _row(pattern: ItemPattern, criterion: Criterion) -> tuple[int, ...]:
    """Return an item's contributions to the sums of all figures, in the order in which `_read` reads them."""
    outlook = Outlook(pattern, criterion)
    found = [added for figure in FIGURES for added in _added(figure, outlook)]
    return (*found, *_cells(outlook))


def _added(figure: Definition, outlook: Outlook) -> Iterator[int]:
    added = outlook.added(figure.part)
    closed, is_open = outlook.closed(figure.part), outlook.is_open(figure.part)
    yield closed or 0
    yield int(closed is not None)
    scored = added if outlook.is_scored else frozenset()
    for part in (lowest(added), highest(added), lowest(scored), highest(scored)):
        yield part or 0
        yield int(part is not None)
    yield int(is_open)
    yield int(is_open and outlook.waits_for_word(figure.part))
    yield int(is_open and outlook.is_scored)
    place = (0 if outlook.right else 2) + (0 if outlook.pattern.is_flagged else 1)
    is_about = bool(scored - {None})
    for stratum in range(4):
        here = is_about and stratum == place
        yield (closed or 0) * here
        yield int(here and closed is not None)
        yield int(here)
    for asked in figure.beside.values():
        yield int(outlook.is_scored and asked(outlook))


def _cells(outlook: Outlook) -> Iterator[int]:
    """Yield the item's contributions to the counts for the net gain."""
    change = outlook.closed(_BY_NAME["net"].part)
    for cell in ((True, 0), (True, -1), (False, 1), (False, 0)):
        yield int(change is not None and (outlook.right, change) == cell)


_WIDTH = sum(_PLAIN + _STRATA + len(figure.beside) for figure in FIGURES) + 4


def _read(figure: Definition, sums: Iterator[int]) -> _Sums:
    def pair() -> tuple[int, int]:
        return next(sums), next(sums)

    return _Sums(
        *pair(),
        low=pair(),
        high=pair(),
        scored_low=pair(),
        scored_high=pair(),
        open=next(sums),
        unresolved=next(sums),
        scored_open=next(sums),
        strata=tuple((next(sums), next(sums), next(sums)) for _ in range(4)),
        beside={key: next(sums) for key in figure.beside},
    )


def _reasons(figure: Definition, executed: Patterns, criterion: Criterion) -> dict[str, int]:
    """Return the number of items on which execution and experts disagree, by reason, including no reason."""
    reasons = dict.fromkeys((*EXECUTION_REASONS, NOT_SAID), 0)
    if figure.name != "execution_agreement":
        return reasons
    for pattern, times in executed.items():
        if Outlook(pattern, criterion).closed(figure.part) == 0:
            reasons[pattern.execution_reason or NOT_SAID] += times
    return reasons


# --- Statements that repeat ---------------------------------------------------------------------------------------


class _Repeated(NamedTuple):
    """The contributions of repeated statements to each figure, and the number of their items that refinement broke."""

    of: dict[str, list[Cluster]]
    lost: int


def _repeated(statements: Repeated, criterion: Criterion) -> _Repeated:
    parts = np.array(
        [_parts(_under(pattern, criterion), criterion) for pattern in statements.patterns]
    )
    sums = statements.add_up(parts)
    found = {
        figure.name: statements.count(sums[:, 2 * place : 2 * place + 2])
        for place, figure in enumerate(FIGURES)
    }
    return _Repeated(found, int((sums[:, -1] * statements.times).sum()))


@lru_cache(maxsize=16_384)
def _parts(pattern: ItemPattern, criterion: Criterion) -> tuple[int, ...]:
    outlook = Outlook(pattern, criterion)
    found = [outlook.closed(figure.part) for figure in FIGURES]
    added = [number for one in found for number in (one or 0, int(one is not None))]
    return (*added, int(outlook.closed(_BY_NAME["net"].part) == -1))


def _statements(
    definition: Definition, own: _Sums, repeated: _Repeated, table: tuple[int, int, int, int]
) -> list[Cluster]:
    """Return all statements of a figure: the repeated statements, and the other statements by contribution."""
    several = repeated.of[definition.name]
    size = own.denominator - sum(n * times for _added, n, times in several)
    added = own.numerator - sum(one * times for one, _n, times in several)
    lost = table[1] - repeated.lost if definition.name == "net" else 0
    return [*several, (1, 1, added + lost), (-1, 1, lost), (0, 1, size - added - 2 * lost)]
