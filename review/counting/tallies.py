"""Keeps a campaign's counts up to date as scores arrive, so that a report never counts items afresh.

A score leaves a TallyDue row with it. Counting takes the due items in slices: what each brought before
(kept in `Item.pattern`) is taken off the tallies, and what it brings now is added. One writer at a time for
a campaign; reviewers never wait for it. `recount` makes everything anew from the scores. A case with several
arms is counted once for each two of them, always by what their items are counted with at present.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from django.db import connection, transaction
from django.db.models import Count, F, Q, Sum

from review.counting.contributions import WORK, bring, count_text
from review.counting.item_facts import ItemRow, read_rows
from review.counting.score_reader import fetch
from review.models import Campaign, Tally, TallyDue
from review.study import ItemPattern, Stage
from review.study.agreement import Cell, Values
from review.study.compare import reduce_pattern

SLICE = 1_000
# Looked up once and not for every row.
_ITEM, _SUM, _JOINT, _VALUES = (
    kind.value for kind in (Tally.Kind.ITEM, Tally.Kind.SUM, Tally.Kind.JOINT, Tally.Kind.VALUES)
)


@dataclass
class Counts:
    """What is counted of one configuration of a campaign."""

    items: Counter[ItemPattern] = field(default_factory=Counter)
    # Stage to (how many gave 0, how many 1, how many 2) to number of items.
    values: dict[Stage, Counter[Values]] = field(default_factory=lambda: defaultdict(Counter))
    # Stage to pair of reviewers with what each gave to number of items.
    pairs: dict[Stage, Counter[Cell]] = field(default_factory=lambda: defaultdict(Counter))
    # Another configuration to (reduced pattern here, reduced pattern there) to number of cases; each two
    # configurations once, at the lower key.
    joint: dict[int, Counter[tuple[ItemPattern, ItemPattern]]] = field(
        default_factory=lambda: defaultdict(Counter)
    )
    # What adds up over items, see `review.counting.contributions`; reviewers' work is read by the dashboard alone.
    sums: Counter[str] = field(default_factory=Counter)


def read_counts(campaign: Campaign, *, most_due: int = 1_000_000) -> dict[int, Counts]:
    """The counts by configuration, brought up to what is committed now, if no more than `most_due` are due."""
    count_due(campaign, most=most_due)
    found: dict[int, Counts] = defaultdict(Counts)
    rows = campaign.tallies.exclude(Q(count=0) | WORK).values_list(
        "configuration", "kind", "pattern", "count"
    )
    for configuration, kind, pattern, count in rows:
        counts = found[configuration]
        if kind == _ITEM:
            counts.items[ItemPattern.from_text(pattern)] = count
            continue
        if kind == _SUM:
            counts.sums[pattern] = count
            continue
        if kind == _JOINT:
            other, here, there = pattern.split(">")
            both = ItemPattern.from_text(here), ItemPattern.from_text(there)
            counts.joint[int(other)][both] = count
            continue
        if kind == _VALUES:
            stage, values = _read_values(pattern)
            counts.values[stage][values] = count
        else:
            stage, cell = _read_cell(pattern)
            counts.pairs[stage][cell] = count
    return found


# A report reads the same few texts each time.
@lru_cache(maxsize=65_536)
def _read_values(pattern: str) -> tuple[Stage, Values]:
    stage, numbers = _read_numbers(pattern)
    return stage, Values(*numbers)


@lru_cache(maxsize=65_536)
def _read_cell(pattern: str) -> tuple[Stage, Cell]:
    stage, numbers = _read_numbers(pattern)
    return stage, Cell(*numbers)


def _read_numbers(pattern: str) -> tuple[Stage, list[int]]:
    stage, _, numbers = pattern.partition("|")
    return Stage(stage), [int(number) for number in numbers.split(",")]


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
    items = campaign.items.order_by("pk").values_list("pk", flat=True)
    while keys := list(items.filter(pk__gt=last)[:SLICE]):
        _count(campaign, keys)
        counted, last = counted + len(keys), keys[-1]
    return counted


def note_due(campaign: Campaign, items: Iterable[int]) -> None:
    """Say that these items changed; for imports, which do many at once. Keys that follow each other are one row."""
    firsts: list[int] = []
    lasts: list[int] = []
    for key in sorted(items):
        if lasts and key == lasts[-1] + 1:
            lasts[-1] = key
        else:
            firsts.append(key)
            lasts.append(key)
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO review_tallydue (campaign_id, item_id, first, last)
            SELECT %(campaign)s, first, NULL, NULL
            FROM unnest(%(firsts)s::bigint[], %(lasts)s::bigint[]) AS span (first, last) WHERE first = last
            UNION ALL
            SELECT %(campaign)s, NULL, first, last
            FROM unnest(%(firsts)s::bigint[], %(lasts)s::bigint[]) AS span (first, last) WHERE first < last
            """,
            {"campaign": campaign.pk, "firsts": firsts, "lasts": lasts},
        )


def estimate_due(campaign: Campaign) -> int:
    """How many items are due; keys that other campaigns took in between are among them."""
    spans = Sum(F("last") - F("first") + 1, default=0)
    due = TallyDue.objects.filter(campaign=campaign).aggregate(Count("item"), spans=spans)
    return int(due["item__count"] + due["spans"])


@transaction.atomic
def _count_slice(campaign: Campaign) -> int:
    _lock(campaign)
    # Read first what is due, then the scores: what is committed in between is due again.
    rows = list(
        TallyDue.objects.filter(campaign=campaign)
        .order_by("pk")
        .values_list("pk", "item", "first", "last")[:SLICE]
    )
    due = [(pk, item) for pk, item, _first, _last in rows if item]
    if not due:
        return _count_span(campaign) if rows else 0
    _count(campaign, sorted({item for _, item in due}))
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM review_tallydue WHERE id = ANY(%s)", [[pk for pk, _ in due]])
    return len(due)


def _count_span(campaign: Campaign) -> int:
    """Count the first of what was noted at once; the rest of it stays due."""
    for span in TallyDue.objects.filter(campaign=campaign, item=None).order_by("pk"):
        items = campaign.items.filter(pk__gte=span.first, pk__lte=span.last).order_by("pk")
        keys = list(items.values_list("pk", flat=True)[:SLICE])
        if len(keys) < SLICE:
            span.delete()
        else:
            TallyDue.objects.filter(pk=span.pk).update(first=keys[-1] + 1)
        if keys:
            _count(campaign, keys)
            return len(keys)
    return 0


def _lock(campaign: Campaign) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('tally'), %s)", [campaign.pk])


class _Changed(NamedTuple):
    """An item that is to be counted otherwise than before."""

    pk: int
    case: int
    configuration: int
    before: str
    now: str
    disputed: bool


def _count(campaign: Campaign, keys: Sequence[int]) -> None:
    rows = read_rows(keys)
    brought = bring(rows)
    changed = [_change(row, *brought[row.pk]) for row in rows if row[3:5] != brought[row.pk]]
    changes: dict[int, Counter[str]] = defaultdict(Counter)
    for item in changed:
        if item.before != item.now:
            count_text(item.before, changes[item.configuration], times=-1)
            count_text(item.now, changes[item.configuration], times=1)
    _keep(changed)
    _count_joint(changed, changes)
    _add(campaign, changes)


def _change(row: ItemRow, pattern: str, disputed: bool) -> _Changed:
    return _Changed(row.pk, row.case, row.configuration, row.pattern, pattern, disputed)


def _keep(changed: Sequence[_Changed]) -> None:
    """Write down what each item is counted with, in one statement that is the same for any number."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE review_item item SET pattern = new.pattern, disputed = new.disputed
            FROM json_to_recordset(%s) AS new (id bigint, pattern text, disputed boolean)
            WHERE item.id = new.id
            """,
            [
                json.dumps(
                    [
                        {"id": item.pk, "pattern": item.now, "disputed": item.disputed}
                        for item in changed
                    ]
                )
            ],
        )


def _count_joint(changed: Sequence[_Changed], changes: dict[int, Counter[str]]) -> None:
    """Add what changes in the counts of cases by two of their arms."""
    query = "SELECT id, case_id, configuration_id, pattern FROM review_item WHERE case_id = ANY(%s)"
    own = {item.pk for item in changed}
    then: dict[int, dict[int, str]] = defaultdict(dict)
    now: dict[int, dict[int, str]] = defaultdict(dict)
    for key, case, configuration, pattern in fetch(query, {item.case for item in changed}):
        if key not in own:
            then[case][configuration] = now[case][configuration] = _reduced(pattern)
    for item in changed:
        then[item.case][item.configuration] = _reduced(item.before)
        now[item.case][item.configuration] = _reduced(item.now)
    for change, cases in ((-1, then), (1, now)):
        for arms in cases.values():
            for (one, here), (other, there) in combinations(sorted(arms.items()), 2):
                if here and there:
                    changes[one][f"{_JOINT} {other}>{here}>{there}"] += change


def _reduced(text: str) -> str:
    """What a comparison asks of the pattern, which stands first in what an item keeps; empty without one."""
    return _reduce_text(text.split('"', 2)[1]) if text else ""


@lru_cache(maxsize=65_536)
def _reduce_text(pattern: str) -> str:
    return reduce_pattern(ItemPattern.from_text(pattern)).to_text() if pattern else ""


def _add(campaign: Campaign, changes: Mapping[int, Counter[str]]) -> None:
    rows = [
        {"configuration": configuration, "pattern": key, "count": change}
        for configuration, counts in sorted(changes.items())
        for key, change in sorted(counts.items())
        if change
    ]
    if not rows:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO review_tally (campaign_id, configuration_id, kind, pattern, count)
            SELECT %s, configuration, split_part(pattern, ' ', 1), substr(pattern, strpos(pattern, ' ') + 1), count
            FROM json_to_recordset(%s) AS new (configuration bigint, pattern text, count bigint)
            ON CONFLICT (campaign_id, configuration_id, kind, pattern)
            DO UPDATE SET count = review_tally.count + excluded.count
            """,
            [campaign.pk, json.dumps(rows)],
        )
