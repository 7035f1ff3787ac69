"""Read a campaign's counts from its tallies, in the form that the report needs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

from django.db.models import Q

from review.counting.contributions import WORK
from review.counting.statements import (
    CLUSTER,
    JOINT,
    LEANING,
    PAIR,
    READ_AS,
    TOGETHER,
    VALUES,
)
from review.counting.tallies import count_due, read_tallies
from review.models import Campaign, Tally
from review.study import ItemPattern, Leaning, PairCells, Reading, Stage, StageCounts, Values
from review.study.compare import Pair

_ITEM, _SUM, _READING = (
    kind.value for kind in (Tally.Kind.ITEM, Tally.Kind.SUM, Tally.Kind.READING)
)
_Kind = TypeVar("_Kind")
_Given = tuple[Values, ...] | PairCells | Leaning


@dataclass
class GivenCounts:
    """Counts of the values that reviewers gave at one stage, by statement."""

    values: Counter[tuple[Values, ...]] = field(default_factory=Counter)
    pairs: Counter[PairCells] = field(default_factory=Counter)
    leanings: Counter[Leaning] = field(default_factory=Counter)

    def add(self, other: GivenCounts) -> None:
        """Add the counts of `other`."""
        self.values.update(other.values)
        self.pairs.update(other.pairs)
        self.leanings.update(other.leanings)

    def freeze(self) -> StageCounts:
        """Return the counts without zeros."""
        return StageCounts(_kept(self.values), _kept(self.pairs), _kept(self.leanings))


def _kept(counts: Counter[_Kind]) -> dict[_Kind, int]:
    return {key: times for key, times in counts.items() if times}


@dataclass
class Counts:
    """The counts of one configuration of a campaign."""

    items: Counter[ItemPattern] = field(default_factory=Counter)
    # Counts of statements with multiple items, by the reduced patterns of those items.
    clusters: Counter[tuple[ItemPattern, ...]] = field(default_factory=Counter)
    given: dict[Stage, GivenCounts] = field(default_factory=lambda: defaultdict(GivenCounts))
    # Corrections to the sum over all configurations. With them, each text and each statement counts once.
    together: dict[Stage, GivenCounts] = field(default_factory=lambda: defaultdict(GivenCounts))
    # Maps another configuration to counts of statements by (pattern here, pattern there) of each case. Each pair of
    # configurations is stored once, in the configuration with the lower key.
    joint: dict[int, Counter[tuple[Pair, ...]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    # Maps another reading to counts of items by (pattern, pattern under that reading), if the two patterns differ.
    readings: dict[Reading, Counter[Pair]] = field(default_factory=lambda: defaultdict(Counter))
    # Maps another reading to the corrections of `clusters`.
    clusters_of: dict[Reading, Counter[tuple[ItemPattern, ...]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    # Sums over items (see `review.counting.contributions`), except for the sums about progress that only the dashboard
    # reads.
    sums: Counter[str] = field(default_factory=Counter)

    def read_as(self, reading: Reading) -> Counter[ItemPattern]:
        """Return the counts of items by their pattern under another reading."""
        found = Counter(self.items)
        for (plain, other), times in self.readings.get(reading, {}).items():
            found[plain] -= times
            found[other] += times
        return Counter({key: times for key, times in found.items() if times})

    def clusters_as(self, reading: Reading) -> Counter[tuple[ItemPattern, ...]]:
        """Return the counts of statements with multiple items under another reading."""
        found = Counter(self.clusters)
        found.update(self.clusters_of.get(reading, {}))
        return Counter({key: times for key, times in found.items() if times})

    def stages(self) -> dict[Stage, StageCounts]:
        """Return the counts of reviewers' values at each stage in this configuration."""
        return {stage: self.given[stage].freeze() for stage in Stage}


def read_counts(campaign: Campaign, *, most_due: int = 1_000_000) -> dict[int, Counts]:
    """Return the counts by configuration, after counting up to about `most_due` due items."""
    count_due(campaign, most=most_due)
    return read_tallies(campaign, _read_all, most=most_due)


def _read_all(campaign: Campaign) -> dict[int, Counts]:
    found: dict[int, Counts] = defaultdict(Counts)
    rows = campaign.tallies.exclude(Q(count=0) | WORK).values_list(
        "configuration", "kind", "pattern", "count"
    )
    for configuration, kind, pattern, count in rows:
        counts = found[configuration]
        if kind == _ITEM:
            counts.items[ItemPattern.from_text(pattern)] = count
        elif kind == _SUM:
            counts.sums[pattern] = count
        elif kind == CLUSTER:
            reading, mark, patterns = pattern.rpartition(READ_AS)
            clusters = counts.clusters_of[Reading(reading)] if mark else counts.clusters
            clusters[_read_patterns(patterns)] = count
        elif kind == JOINT:
            other, _mark, cases = pattern.partition(">")
            counts.joint[int(other)][_read_pairs(cases)] = count
        elif kind == _READING:
            name, _mark, both = pattern.partition(">")
            counts.readings[Reading(name)][_read_pairs(both)[0]] = count
        else:
            _take_given(counts, kind, pattern, count)
    return found


def join_stages(counts: Iterable[Counts]) -> dict[Stage, StageCounts]:
    """Return the counts of reviewers' values at each stage in all configurations. Each text counts once."""
    found = {stage: GivenCounts() for stage in Stage}
    for one in counts:
        for stage in Stage:
            found[stage].add(one.given[stage])
            found[stage].add(one.together[stage])
    return {stage: given.freeze() for stage, given in found.items()}


def _take_given(counts: Counts, kind: str, pattern: str, count: int) -> None:
    is_together, stage, key = _read_given(kind, pattern)
    given = (counts.together if is_together else counts.given)[stage]
    if isinstance(key, PairCells):
        given.pairs[key] = count
    elif isinstance(key, Leaning):
        given.leanings[key] = count
    else:
        given.values[key] = count


# Every report reads the same keys, so cache them.
@lru_cache(maxsize=262_144)
def _read_given(kind: str, pattern: str) -> tuple[bool, Stage, _Given]:
    name, _mark, rest = pattern.partition("|")
    is_together, stage = name.startswith(TOGETHER), Stage(name.removeprefix(TOGETHER))
    if kind == VALUES:
        return is_together, stage, tuple(Values(*one) for one in _numbers(rest))
    if kind == LEANING:
        return is_together, stage, Leaning(*_numbers(rest)[0])
    assert kind == PAIR, f"no kind of tally: {kind}"
    reviewers, _mark, cells = rest.partition("|")
    ((a, b),) = _numbers(reviewers)
    return is_together, stage, PairCells(a, b, tuple((x, y) for x, y in _numbers(cells)))


def _numbers(text: str) -> list[list[int]]:
    return [[int(number) for number in one.split(",")] for one in text.split(";")]


@lru_cache(maxsize=65_536)
def _read_patterns(text: str) -> tuple[ItemPattern, ...]:
    return tuple(ItemPattern.from_text(one) for one in text.split(">"))


@lru_cache(maxsize=65_536)
def _read_pairs(text: str) -> tuple[Pair, ...]:
    patterns = _read_patterns(text)
    return tuple(zip(patterns[::2], patterns[1::2], strict=True))
