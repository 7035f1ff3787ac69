"""Count the items of a statement together, because they are not independent of each other.

The tallies are stored per configuration. A statement with multiple items in a configuration is a cluster. Other
readings add and remove clusters. Reviewers' values are stored by statement for the agreement figures.

Multiple configurations may include the statement. Corrections to the sum over configurations are then stored in the
configuration with the lowest key, with `*` before the stage. The corrections are needed because a text that multiple
arms share was scored only once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from review.counting.contributions import Kept
from review.models import Tally
from review.study import ItemPattern, Stage, leanings_of, pairs_of, values_of
from review.study.compare import reduce_pattern
from review.study.figures import reduce_to_figures

CLUSTER, JOINT, VALUES, PAIR, LEANING = (
    kind.value
    for kind in (
        Tally.Kind.CLUSTER,
        Tally.Kind.JOINT,
        Tally.Kind.VALUES,
        Tally.Kind.PAIR,
        Tally.Kind.LEANING,
    )
)
TOGETHER = "*"
# Separates the name of a reading from the cluster that this reading adds or removes.
READ_AS = "="
_STAGES = tuple(stage.value for stage in Stage)


class Counted(NamedTuple):
    """An item of a statement with its parsed contribution."""

    case: int
    configuration: int
    kept: Kept


Changes = dict[int, Counter[str]]  # changes by configuration


def count_statement(items: Sequence[Counted], changes: Changes, *, times: int) -> None:
    """Add the counts of a statement's items multiplied by `times`."""
    arms: dict[int, list[Counted]] = defaultdict(list)
    for item in items:
        if item.kept.pattern:
            arms[item.configuration].append(item)
    for configuration, own in arms.items():
        if len(own) > 1:
            _count_cluster(own, changes[configuration], times)
        for key in _keys_given(item.kept.given for item in own):
            changes[configuration][key] += times
    if len(arms) > 1:
        least = changes[min(arms)]
        for own in arms.values():
            for key in _keys_given((item.kept.given for item in own), TOGETHER):
                least[key] -= times
        every = [item for own in arms.values() for item in own]
        for key in _keys_given((unshared(item.kept) for item in every), TOGETHER):
            least[key] += times
        _count_joint(arms, changes, times)


def _count_cluster(own: Sequence[Counted], counts: Counter[str], times: int) -> None:
    """Count the cluster of these items, and the clusters that replace it under other readings."""
    plain = _cluster(item.kept.pattern for item in own)
    counts[f"{CLUSTER} {plain}"] += times
    for reading in {name for item in own for name in item.kept.readings}:
        other = _cluster(item.kept.readings.get(reading, item.kept.pattern) for item in own)
        counts[f"{CLUSTER} {reading}{READ_AS}{plain}"] -= times
        counts[f"{CLUSTER} {reading}{READ_AS}{other}"] += times


def _cluster(patterns: Iterable[str]) -> str:
    return ">".join(sorted(_reduce_to_figures(pattern) for pattern in patterns))


def _count_joint(arms: Mapping[int, Sequence[Counted]], changes: Changes, times: int) -> None:
    """Count the cases by their patterns in two arms. Each pair of configurations is stored under the lower key."""
    cases = {
        configuration: {item.case: _reduce(item.kept.pattern) for item in own}
        for configuration, own in arms.items()
    }
    for one, other in combinations(sorted(cases), 2):
        here, there = cases[one], cases[other]
        pairs = sorted(f"{here[case]}>{there[case]}" for case in here.keys() & there.keys())
        if pairs:
            changes[one][f"{JOINT} {other}>{'>'.join(pairs)}"] += times


Given = Mapping[str, list[list[int]]]  # (reviewer, value) pairs by stage


def unshared(kept: Kept) -> Given:
    """Return the item's values, except at stages that share their text with an earlier item of the case."""
    return {stage: pairs for stage, pairs in kept.given.items() if stage not in kept.shared}


def _keys_given(items: Iterable[Given], mark: str = "") -> Iterator[str]:
    """Yield the tally keys of reviewers' values for the items, stage by stage. `mark` is written before the stage."""
    found = list(items)
    for stage in _STAGES:
        given = [[(r, v) for r, v in one[stage]] for one in found if stage in one]
        if not given:
            continue
        name = f"{mark}{stage}"
        values = sorted(_join(values_of(pairs)) for pairs in given)
        yield f"{VALUES} {name}|{';'.join(values)}"
        for pair in pairs_of(given):
            cells = ";".join(_join(cell) for cell in pair.cells)
            yield f"{PAIR} {name}|{pair.a},{pair.b}|{cells}"
        for one in leanings_of(given):
            yield f"{LEANING} {name}|{_join(one)}"


def _join(numbers: Iterable[int]) -> str:
    return ",".join(map(str, numbers))


@lru_cache(maxsize=65_536)
def _reduce(pattern: str) -> str:
    """Return the part of the pattern that comparisons need."""
    return reduce_pattern(ItemPattern.from_text(pattern)).to_text()


@lru_cache(maxsize=65_536)
def _reduce_to_figures(pattern: str) -> str:
    """Return the part of the pattern that figures and tables need."""
    return reduce_to_figures(ItemPattern.from_text(pattern)).to_text()
