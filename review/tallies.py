"""Keeps a campaign's counts up as scores arrive, so that no look at a report counts items afresh.

A score leaves a TallyDue row with it. Counting takes the due items in slices: what each brought before
(kept in `Item.pattern`) is taken off the tallies, and what it brings now is added. One writer at a time for
a campaign; reviewers never wait for it. `recount` makes everything anew from the scores.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from django.db import connection, transaction
from django.db.models import QuerySet

from pipeline.types import Arm
from review.judging import judge_items
from review.models import Campaign, Item, Tally, TallyDue
from review.study import ItemPattern, Judged, Stage, pattern_of, values_given

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


def read_counts(campaign: Campaign) -> dict[int, Counts]:
    """The counts by configuration, brought up to what is committed now."""
    count_due(campaign)
    found: dict[int, Counts] = defaultdict(Counts)
    rows = campaign.tallies.exclude(count=0).values_list(
        "configuration", "kind", "pattern", "count"
    )
    for configuration, kind, pattern, count in rows:
        counts = found[configuration]
        if kind == Tally.Kind.ITEM:
            counts.items[ItemPattern.from_text(pattern)] = count
            continue
        stage, _, numbers = pattern.partition("|")
        whole = tuple(int(number) for number in numbers.split(","))
        if kind == Tally.Kind.VALUES:
            counts.values[Stage(stage)][whole] = count  # type: ignore[index]
        else:
            counts.pairs[Stage(stage)][whole] = count  # type: ignore[index]
    return found


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
    changed = []
    for item in items:
        now = judged[item.pk]
        pattern, disputed = write_pattern(now), is_disputed(now)
        if (pattern, disputed) == (item.pattern, item.disputed):
            continue
        for change, text in ((-1, item.pattern), (1, pattern)):
            for kind, counted in contributions(text):
                changes[item.configuration_id, kind, counted] += change
        item.pattern, item.disputed = pattern, disputed
        changed.append(item)
    Item.objects.bulk_update(changed, ["pattern", "disputed"], batch_size=SLICE)
    _add(campaign, changes)


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
    """What an item brings, as it is kept on the item: its pattern and who gave what at each stage."""
    pattern = pattern_of(judged)
    if pattern is None:
        return ""
    given = {stage.value: values_given(judged, stage) for stage in Stage}
    return json.dumps(
        [pattern.to_text(), {stage: pairs for stage, pairs in given.items() if pairs}]
    )


def contributions(text: str) -> list[tuple[str, str]]:
    """Kind and pattern of each tally that such an item is counted in."""
    if not text:
        return []
    pattern, given = json.loads(text)
    found = [(Tally.Kind.ITEM.value, str(pattern))]
    for stage, pairs in given.items():
        times = Counter(value for _, value in pairs)
        found.append((Tally.Kind.VALUES.value, f"{stage}|{times[0]},{times[1]},{times[2]}"))
        found += [
            (Tally.Kind.PAIR.value, f"{stage}|{a},{b},{first},{second}")
            for (a, first), (b, second) in combinations(pairs, 2)
        ]
    return found


def is_disputed(judged: Judged) -> bool:
    """Whether all are done, two differ on a stage, and nobody has settled it."""
    if not judged.is_complete or not judged.is_real:
        return False
    return any(
        (stage, Arm.MODEL) not in judged.adjudicated
        and len({value for _, value in values_given(judged, stage)}) > 1
        for stage in Stage
    )
