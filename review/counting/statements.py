"""What the items of one statement bring together: items of one statement are not independent of each other.

Keys are of the tallies of one configuration: its kind, and what is alike. A statement with several items of a
configuration is a cluster of its figures; under another reading some are added to these, and others taken off. What
reviewers gave is kept by statement for agreement; where several configurations have the statement, what these give
together stands under the least of them, with a `*` before the stage, as a correction of the sum over configurations:
a text that several arms hold was scored once.
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
# Between the name of a reading and a cluster that it adds, or takes away, where the items' patterns change in it.
READ_AS = "="
_STAGES = tuple(stage.value for stage in Stage)


class Counted(NamedTuple):
    """An item of a statement, with what it keeps."""

    case: int
    configuration: int
    kept: Kept


Changes = dict[int, Counter[str]]  # by configuration


def count_statement(items: Sequence[Counted], changes: Changes, *, times: int) -> None:
    """Add so many times what the items of a statement bring together."""
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
    """What these items of one statement bring, and what under each other reading takes the place of that."""
    plain = _cluster(item.kept.pattern for item in own)
    counts[f"{CLUSTER} {plain}"] += times
    for reading in {name for item in own for name in item.kept.readings}:
        other = _cluster(item.kept.readings.get(reading, item.kept.pattern) for item in own)
        counts[f"{CLUSTER} {reading}{READ_AS}{plain}"] -= times
        counts[f"{CLUSTER} {reading}{READ_AS}{other}"] += times


def _cluster(patterns: Iterable[str]) -> str:
    return ">".join(sorted(_reduce_to_figures(pattern) for pattern in patterns))


def _count_joint(arms: Mapping[int, Sequence[Counted]], changes: Changes, times: int) -> None:
    """Cases by what two of their arms bring; each two configurations once, at the lower key."""
    cases = {
        configuration: {item.case: _reduce(item.kept.pattern) for item in own}
        for configuration, own in arms.items()
    }
    for one, other in combinations(sorted(cases), 2):
        here, there = cases[one], cases[other]
        pairs = sorted(f"{here[case]}>{there[case]}" for case in here.keys() & there.keys())
        if pairs:
            changes[one][f"{JOINT} {other}>{'>'.join(pairs)}"] += times


Given = Mapping[str, list[list[int]]]  # by stage: reviewer and value


def unshared(kept: Kept) -> Given:
    """What was given to the item's own texts, without those that an earlier item of the case holds."""
    return {stage: pairs for stage, pairs in kept.given.items() if stage not in kept.shared}


def _keys_given(items: Iterable[Given], mark: str = "") -> Iterator[str]:
    """The keys of what reviewers gave to the items, stage by stage."""
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
    """What a comparison asks of the pattern."""
    return reduce_pattern(ItemPattern.from_text(pattern)).to_text()


@lru_cache(maxsize=65_536)
def _reduce_to_figures(pattern: str) -> str:
    """What figures and tables ask of it."""
    return reduce_to_figures(ItemPattern.from_text(pattern)).to_text()
