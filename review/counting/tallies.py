"""Update a campaign's counts as scores arrive, so that reports don't have to count all items.

Every score adds a TallyDue row, which marks its item as due. Due items are counted in slices. For each item and its
statement, the old contribution (stored in `Item.pattern`) is subtracted from the tallies and the new contribution is
added. A lock allows one writer per campaign. Reviewers never wait for this lock. `recount` recalculates everything from
the scores. `review.counting.counts` reads the tallies.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from django.db import connection, transaction
from django.db.models import Count, F, Sum

from review.counting.contributions import bring, read_kept
from review.counting.facts import read_facts
from review.counting.statements import Counted, count_statement
from review.models import Campaign, Tally, TallyDue
from review.study.types import OtherForm

_Read = TypeVar("_Read")

SLICE = 1_000
# Look up these values once instead of for every row.
_ITEM, _SUM, _READING = (
    kind.value for kind in (Tally.Kind.ITEM, Tally.Kind.SUM, Tally.Kind.READING)
)


def count_due(campaign: Campaign, *, most: int = 1_000_000) -> int:
    """Count the due items in slices and return their number.

    If another release stored the counts in a different format, delete them and recount all items.
    """
    counted = 0
    while counted < most:
        try:
            taken = _count_slice(campaign)
        except OtherForm:
            forget(campaign)
            continue
        counted += taken
        if not taken:
            break
    return counted


def read_tallies(
    campaign: Campaign, read: Callable[[Campaign], _Read], *, most: int = 1_000_000
) -> _Read:
    """Return the result of `read` for the campaign's tallies.

    If another release stored the tallies in a different format, recount about `most` items and call `read` again.
    """
    try:
        return read(campaign)
    except OtherForm:
        forget(campaign)
        count_due(campaign, most=most)
        return read(campaign)


def count_all_due() -> int:
    """Count the due items of all campaigns, and return their number.

    A worker calls this function so that reports load faster.
    """
    due = TallyDue.objects.order_by().values_list("campaign", flat=True).distinct()
    return sum(count_due(campaign) for campaign in Campaign.objects.filter(pk__in=list(due)))


@transaction.atomic
def recount(campaign: Campaign) -> int:
    """Delete the tallies, recount every item from its scores, and return the number of items."""
    _drop(campaign)
    counted, last = 0, 0
    items = campaign.items.order_by("pk").values_list("pk", flat=True)
    while keys := list(items.filter(pk__gt=last)[:SLICE]):
        _count(campaign, keys)
        counted, last = counted + len(keys), keys[-1]
    return counted


@transaction.atomic
def forget(campaign: Campaign) -> None:
    """Delete the tallies and mark every item as due."""
    _drop(campaign)
    note_due(campaign, campaign.items.values_list("pk", flat=True))


def _drop(campaign: Campaign) -> None:
    _lock(campaign)
    campaign.tallies.all().delete()
    TallyDue.objects.filter(campaign=campaign).delete()
    campaign.items.exclude(pattern="").update(pattern="")


def note_due(campaign: Campaign, items: Iterable[int]) -> None:
    """Mark these items as due. Items with consecutive keys share one TallyDue row."""
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
    """Return an estimate of the number of due items.

    The estimate includes other campaigns' items within a span of keys.
    """
    spans = Sum(F("last") - F("first") + 1, default=0)
    due = TallyDue.objects.filter(campaign=campaign).aggregate(Count("item"), spans=spans)
    return int(due["item__count"] + due["spans"])


@transaction.atomic
def _count_slice(campaign: Campaign) -> int:
    _lock(campaign)
    # Read the TallyDue rows before the scores. A score that is committed in between adds another row.
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
    """Count the first items of a span, and return their number. The remaining items stay due."""
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
    """An item whose contribution has changed."""

    pk: int
    configuration: int
    before: str
    now: str
    disputed: bool


def _count(campaign: Campaign, keys: Sequence[int]) -> None:
    facts = read_facts(keys)
    changed = []
    # Include the cases' items in other arms, because a score counts in every arm with the same text.
    for key in sorted(facts.rows):
        row, brought = facts.rows[key], bring(facts, key)
        if (row.pattern, row.disputed) != brought:
            changed.append(_Changed(key, row.configuration, row.pattern, *brought))
    changes: dict[int, Counter[str]] = defaultdict(Counter)
    recounted = [item for item in changed if item.before != item.now]
    for item in recounted:
        _count_item(item.before, changes[item.configuration], times=-1)
        _count_item(item.now, changes[item.configuration], times=1)
    _count_statements(campaign, recounted, changes)
    _keep(changed)
    _add(campaign, changes)


def _count_item(text: str, counts: Counter[str], *, times: int) -> None:
    """Add the item's own contribution, multiplied by `times`, to `counts`."""
    kept = read_kept(text)
    if kept.pattern:
        counts[f"{_ITEM} {kept.pattern}"] += times
    for reading, other in kept.readings.items():
        counts[f"{_READING} {reading}>{kept.pattern}>{other}"] += times
    for name, number in kept.sums.items():
        counts[f"{_SUM} {name}"] += times * number


# Select all items of the same statements and cases, because each statement is counted as a whole.
_SAME_STATEMENT = """
    WITH own AS (
        SELECT item.case_id, action.statement_sha256 AS statement
        FROM review_item item JOIN review_case "case" ON "case".id = item.case_id
        JOIN pipeline_action action ON action.id = "case".action_id
        WHERE item.id = ANY(%(keys)s)
    ), cases AS (
        SELECT case_id AS id, coalesce(nullif(statement, ''), 'case ' || case_id) AS statement FROM own
        UNION
        SELECT "case".id, action.statement_sha256
        FROM (SELECT DISTINCT statement FROM own WHERE statement <> '') AS same
        JOIN pipeline_action action ON action.statement_sha256 = same.statement
        JOIN review_case "case" ON "case".action_id = action.id AND "case".campaign_id = %(campaign)s
    )
    SELECT item.id, cases.statement, item.case_id, item.configuration_id, item.pattern
    FROM cases JOIN review_item item ON item.case_id = cases.id
"""


def _count_statements(
    campaign: Campaign, changed: Sequence[_Changed], changes: dict[int, Counter[str]]
) -> None:
    """Add the changes in the counts of whole statements to `changes`."""
    if not changed:
        return
    texts = {item.pk: (item.before, item.now) for item in changed}
    then: dict[str, list[Counted]] = defaultdict(list)
    now: dict[str, list[Counted]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_SAME_STATEMENT, {"keys": list(texts), "campaign": campaign.pk})
        for key, statement, case, configuration, text in cursor.fetchall():
            before, after = texts.get(key, (text, text))
            then[statement].append(Counted(case, configuration, read_kept(before)))
            same = then[statement][-1].kept if before == after else read_kept(after)
            now[statement].append(Counted(case, configuration, same))
    for times, statements in ((-1, then), (1, now)):
        for items in statements.values():
            count_statement(items, changes, times=times)


def _keep(changed: Sequence[_Changed]) -> None:
    """Store the contributions. The SQL text is the same for any number of items."""
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
