"""Keeps a campaign's counts up as scores arrive, so that no look at a report counts items afresh.

A score leaves a TallyDue row with it. Counting takes the due items in slices: what each brought before
(kept in `Item.pattern`) is taken off the tallies, and what it brings now is added. One writer at a time for
a campaign; reviewers never wait for it. `recount` makes everything anew from the scores. A case with several
arms is counted once for each two of them, always by what their items are counted with at present.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations

from django.db import connection, transaction
from django.db.models import QuerySet

from pipeline.types import Arm
from review.judging import judge_items
from review.models import Campaign, Item, Tally, TallyDue
from review.study import ItemPattern, Judged, Stage, pattern_of, values_given
from review.study.compare import reduce_pattern

SLICE = 500
Key = tuple[int, str, str]  # configuration, kind, pattern


@dataclass
class Counts:
    """What is counted of one configuration of a campaign."""

    items: Counter[ItemPattern] = field(default_factory=Counter)
    # Stage to (how many gave 0, how many 1, how many 2) to number of items.
    values: dict[Stage, Counter[tuple[int, int, int]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    # Stage to (reviewer, reviewer, value of the first, value of the second) to number of items.
    pairs: dict[Stage, Counter[tuple[int, int, int, int]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    # Another configuration to (reduced pattern here, reduced pattern there) to number of cases; each two
    # configurations once, at the lower key.
    joint: dict[int, Counter[tuple[ItemPattern, ItemPattern]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    # What adds up over items, see `_sums_of`.
    sums: Counter[str] = field(default_factory=Counter)


def read_counts(campaign: Campaign, *, most_due: int = 1_000_000) -> dict[int, Counts]:
    """The counts by configuration, brought up to what is committed now, if no more than `most_due` are due."""
    count_due(campaign, most=most_due)
    found: dict[int, Counts] = defaultdict(Counts)
    rows = campaign.tallies.exclude(count=0).values_list(
        "configuration", "kind", "pattern", "count"
    )
    for configuration, kind, pattern, count in rows:
        counts = found[configuration]
        if kind == Tally.Kind.ITEM:
            counts.items[ItemPattern.from_text(pattern)] = count
            continue
        if kind == Tally.Kind.SUM:
            counts.sums[pattern] = count
            continue
        if kind == Tally.Kind.JOINT:
            other, here, there = pattern.split(">")
            both = ItemPattern.from_text(here), ItemPattern.from_text(there)
            counts.joint[int(other)][both] = count
            continue
        stage, whole = _read_numbers(pattern)
        if kind == Tally.Kind.VALUES:
            counts.values[stage][whole] = count  # type: ignore[index]
        else:
            counts.pairs[stage][whole] = count  # type: ignore[index]
    return found


# A report reads the same few texts each time.
@lru_cache(maxsize=65_536)
def _read_numbers(pattern: str) -> tuple[Stage, tuple[int, ...]]:
    stage, _, numbers = pattern.partition("|")
    return Stage(stage), tuple(int(number) for number in numbers.split(","))


def count_due(campaign: Campaign, *, most: int = 1_000_000) -> int:
    """Count what is due, slice by slice; returns how many items were counted anew."""
    counted = 0
    while counted < most:
        taken = _count_slice(campaign)
        counted += taken
        if not taken:
            break
    return counted


def count_all_due() -> int:
    """Count what is due in every campaign; for the background, so that whoever looks finds little to do."""
    due = TallyDue.objects.order_by().values_list("campaign", flat=True).distinct()
    return sum(count_due(campaign) for campaign in Campaign.objects.filter(pk__in=list(due)))


@transaction.atomic
def recount(campaign: Campaign) -> int:
    """Forget the tallies and count every item from its scores; returns how many there are."""
    _lock(campaign)
    campaign.tallies.all().delete()
    TallyDue.objects.filter(campaign=campaign).delete()
    campaign.items.exclude(pattern="").update(pattern="")
    counted, last = 0, 0
    while items := list(_items(campaign).filter(pk__gt=last).order_by("pk")[:SLICE]):
        _count(campaign, items)
        counted, last = counted + len(items), items[-1].pk
    return counted


def note_due(campaign: Campaign, items: Iterable[int]) -> None:
    """Say that these items changed; for imports, which do many at once."""
    TallyDue.objects.bulk_create(
        (TallyDue(item_id=item, campaign=campaign) for item in items), batch_size=5_000
    )


@transaction.atomic
def _count_slice(campaign: Campaign) -> int:
    _lock(campaign)
    # Read first what is due, then the scores: what is committed in between is due again.
    due = list(
        TallyDue.objects.filter(campaign=campaign).order_by("pk").values_list("pk", "item")[:SLICE]
    )
    if not due:
        return 0
    _count(campaign, list(_items(campaign).filter(pk__in={item for _, item in due}).order_by("pk")))
    TallyDue.objects.filter(pk__in=[pk for pk, _ in due]).delete()
    return len(due)


def _items(campaign: Campaign) -> QuerySet[Item]:
    return campaign.items.select_related("case", "run")


def _lock(campaign: Campaign) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('tally'), %s)", [campaign.pk])


def _count(campaign: Campaign, items: Sequence[Item]) -> None:
    judged = judge_items(items)
    changes: Counter[Key] = Counter()
    changed, before = [], {}
    for item in items:
        now = judged[item.pk]
        pattern, disputed = write_pattern(now), is_disputed(now)
        if (pattern, disputed) == (item.pattern, item.disputed):
            continue
        for change, text in ((-1, item.pattern), (1, pattern)):
            for kind, counted, times in contributions(text):
                changes[item.configuration_id, kind, counted] += change * times
        before[item.pk] = item.pattern
        item.pattern, item.disputed = pattern, disputed
        changed.append(item)
    _keep(changed)
    changes.update(_count_joint(changed, before))
    _add(campaign, changes)


def _keep(changed: Sequence[Item]) -> None:
    """Write down what each item is counted with, in one statement that is the same for any number."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE review_item item SET pattern = new.pattern, disputed = new.disputed
            FROM unnest(%s::bigint[], %s::text[], %s::boolean[]) AS new (id, pattern, disputed)
            WHERE item.id = new.id
            """,
            [
                [item.pk for item in changed],
                [item.pattern for item in changed],
                [item.disputed for item in changed],
            ],
        )


def _count_joint(changed: Sequence[Item], before: dict[int, str]) -> Counter[Key]:
    """What changes in the counts of cases by two of their arms."""
    others = (
        Item.objects.filter(case__in={item.case_id for item in changed})
        .exclude(pk__in=before)
        .order_by()
        .values_list("case", "configuration", "pattern")
    )
    then: dict[int, dict[int, str]] = defaultdict(dict)
    now: dict[int, dict[int, str]] = defaultdict(dict)
    for case, configuration, pattern in others:
        then[case][configuration] = now[case][configuration] = pattern
    for item in changed:
        then[item.case_id][item.configuration_id] = before[item.pk]
        now[item.case_id][item.configuration_id] = item.pattern
    changes: Counter[Key] = Counter()
    for change, cases in ((-1, then), (1, now)):
        for arms in cases.values():
            for (one, here), (other, there) in combinations(sorted(arms.items()), 2):
                if here and there:
                    both = f"{other}>{_reduced(here)}>{_reduced(there)}"
                    changes[one, Tally.Kind.JOINT.value, both] += change
    return changes


def _reduced(text: str) -> str:
    return _reduce_text(json.loads(text)[0])


@lru_cache(maxsize=65_536)
def _reduce_text(pattern: str) -> str:
    return reduce_pattern(ItemPattern.from_text(pattern)).to_text()


def _add(campaign: Campaign, changes: Counter[Key]) -> None:
    rows = [(*key, change) for key, change in sorted(changes.items()) if change]
    if not rows:
        return
    with connection.cursor() as cursor:
        cursor.executemany(
            """
            INSERT INTO review_tally (campaign_id, configuration_id, kind, pattern, count)
            VALUES (%s, %s, %s, %s, %s)
            ON CONFLICT (campaign_id, configuration_id, kind, pattern)
            DO UPDATE SET count = review_tally.count + excluded.count
            """,
            [(campaign.pk, *row) for row in rows],
        )


# --- What one item brings ---------------------------------------------------------------------------------------


def write_pattern(judged: Judged) -> str:
    """What an item brings, as it is kept on the item: its pattern, who gave what at each stage, and its sums."""
    pattern = pattern_of(judged)
    if pattern is None:
        return ""
    given = {stage.value: values_given(judged, stage) for stage in Stage}
    kept = {stage: pairs for stage, pairs in given.items() if pairs}
    return json.dumps([pattern.to_text(), kept, _sums_of(judged)])


def contributions(text: str) -> list[tuple[str, str, int]]:
    """Kind, pattern and number of each tally that such an item is counted in."""
    if not text:
        return []
    pattern, given, sums = json.loads(text)
    found = [(Tally.Kind.ITEM.value, str(pattern), 1)]
    found += [(Tally.Kind.SUM.value, name, number) for name, number in sums.items()]
    for stage, pairs in given.items():
        times = Counter(value for _, value in pairs)
        found.append((Tally.Kind.VALUES.value, f"{stage}|{times[0]},{times[1]},{times[2]}", 1))
        found += [
            (Tally.Kind.PAIR.value, f"{stage}|{a},{b},{first},{second}", 1)
            for (a, first), (b, second) in combinations(pairs, 2)
        ]
    return found


def _sums_of(judged: Judged) -> dict[str, int]:
    """Items of the demo model, items with a known time and their seconds, and who passed how many over."""
    sums: Counter[str] = Counter()
    if judged.is_demo:
        sums["demo"] = 1
    if judged.active_seconds is not None:
        sums["timed"] = 1
        sums["seconds"] = round(judged.active_seconds)
    for reviewer, how in judged.passed_over:
        sums[f"{how}|{reviewer}|{judged.verdict or ''}"] += 1
    return dict(sums)


def is_disputed(judged: Judged) -> bool:
    """Whether all are done, two differ on a stage, and nobody has settled it."""
    if not judged.is_complete or not judged.is_real:
        return False
    return any(
        (stage, Arm.MODEL) not in judged.adjudicated
        and len({value for _, value in values_given(judged, stage)}) > 1
        for stage in Stage
    )
