"""The numbers behind each threat to validity: what was recorded with the scores, put together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from pipeline.types import Arm
from review.campaigns.services.rubrics import count_undecided, rubric_choices, rubric_uses
from review.counting.facts import judge_items
from review.models import Campaign, Item, Tally
from review.study import Criterion, ItemPattern, overturned_of
from review.study.threats import compare_halo, compare_repeats, share_by_quarter, threats_of

Document = dict[str, object]
MOST_LOOKS = 200
KEPT_SECONDS = 300
_SLICE = 1_000

# The first script scores of each reviewer, in quarters of each sitting and of their whole way through the study.
# A sitting begins where the minutes since its begin start anew; less than four scores have no quarters.
_QUARTERS = """
    WITH given AS (
        SELECT score.id, score.reviewer_id, score.value, score.at, score.position,
               lag(score.sitting_minutes) OVER turn >= score.sitting_minutes AS is_new
        FROM review_score score JOIN review_item item ON item.id = score.item_id
        JOIN review_case "case" ON "case".id = item.case_id
        WHERE item.campaign_id = %s AND "case".purpose = 'real' AND score.current
          AND score.stage = 'script' AND score.sitting_minutes IS NOT NULL
        WINDOW turn AS (PARTITION BY score.reviewer_id ORDER BY score.at, score.id)
    ), seated AS (
        SELECT *, count(*) FILTER (WHERE is_new) OVER (PARTITION BY reviewer_id ORDER BY at, id) AS sitting
        FROM given
    ), placed AS (
        SELECT value,
               ntile(4) OVER (PARTITION BY reviewer_id, sitting ORDER BY at, id) - 1 AS of_sitting,
               count(*) OVER (PARTITION BY reviewer_id, sitting) AS in_sitting,
               ntile(4) OVER (PARTITION BY reviewer_id ORDER BY position, id) - 1 AS of_all,
               count(*) OVER (PARTITION BY reviewer_id) AS in_all
        FROM seated
    )
    SELECT 'sitting', of_sitting, value, count(*) FROM placed WHERE in_sitting >= 4 GROUP BY 2, 3
    UNION ALL
    SELECT 'position', of_all, value, count(*) FROM placed WHERE in_all >= 4 GROUP BY 2, 3
"""
# Every item that was shown again with the one it stands for, and what each reviewer gave: of each place the last
# value given blind; where none was, the first. As the figures take it, and of stages with a current score alone.
_AGAIN = """
    WITH pair AS (
        SELECT shown.again, shown.id AS shown_id, original.id AS original_id, original.pattern
        FROM review_item shown JOIN review_item original
          ON original.campaign_id = shown.campaign_id AND original.run_id = shown.run_id AND original.again = ''
        WHERE shown.campaign_id = %(campaign)s AND shown.again = %(again)s
          AND shown.state <> 'withdrawn' AND original.state <> 'withdrawn'
    ), given AS (
        SELECT DISTINCT ON (item_id, reviewer_id, stage, arm) item_id, reviewer_id, stage, arm, value
        FROM (
            SELECT *, bool_or(current) OVER (PARTITION BY item_id, reviewer_id, stage, arm) AS counts
            FROM review_score
            WHERE item_id IN (SELECT shown_id FROM pair UNION ALL SELECT original_id FROM pair)
        ) score
        WHERE counts
        ORDER BY item_id, reviewer_id, stage, arm, blind DESC, CASE WHEN blind THEN -id ELSE id END
    )
"""
# A hidden repeat and the first time: the same reviewer, stage and arm.
_REPEATS = f"""{_AGAIN}
    SELECT first.reviewer_id, first.value, again.value, count(*)
    FROM pair
    JOIN given again ON again.item_id = pair.shown_id
    JOIN given first ON first.item_id = pair.original_id
     AND first.reviewer_id = again.reviewer_id AND first.stage = again.stage AND first.arm = again.arm
    GROUP BY first.reviewer_id, first.value, again.value
"""
# What the item is counted with, its final refined score among it, and what the other reviewer gave. An item keeps
# its pattern as the first text of a JSON list.
_HALO = f"""{_AGAIN}
    SELECT split_part(pair.pattern, '"', 2), other.value, count(*)
    FROM pair LEFT JOIN given other ON other.item_id = pair.shown_id AND other.stage = 'script'
    GROUP BY 1, 2
"""


def recent_threats(campaign: Campaign) -> Document:
    """The same, counted at most five minutes ago: it goes through the scores themselves."""
    key = f"threats:{campaign.pk}"
    found: Document | None = cache.get(key)
    if found is None:
        found = report_threats(campaign)
        cache.set(key, found, KEPT_SECONDS)
    return found


def report_threats(campaign: Campaign) -> Document:
    """Each threat of the study with the numbers that report on it, as JSON."""
    quarters = _count_quarters(campaign)
    origin = _count_origins(campaign)
    return {
        "at": timezone.now().isoformat(timespec="seconds"),
        "threats": [asdict(threat) for threat in threats_of(is_imported=not origin["here"])],
        "origin": origin,
        "order": {"order": campaign.order, "seed": campaign.seed},
        "position": _share_quarters(quarters["position"]),
        "sitting": _share_quarters(quarters["sitting"]),
        "halo": _report_halo(campaign),
        "repeats": _report_repeats(campaign),
        "rubric": _report_rubric(campaign),
        "skips": _report_skips(campaign),
        "adjudications": _report_adjudications(campaign),
        "unblinded": [
            {"reviewer": one.user.username, "at": one.unblinded_at.isoformat(timespec="seconds")}
            for one in campaign.members.exclude(unblinded_at=None).select_related("user")
            if one.unblinded_at
        ],
        "looks": _report_looks(campaign),
        "shares": {
            "sham": campaign.sham_share,
            "halo": campaign.halo_share,
            "repeats": campaign.repeat_share,
        },
        "planned": {"items": campaign.planned_items, "figure": campaign.primary_figure},
    }


def _count_origins(campaign: Campaign) -> dict[str, int]:
    """Scores that were given here, and those that were imported: how many say when, and what was visible."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT count(*) FILTER (WHERE NOT score.imported),
                   count(*) FILTER (WHERE score.imported),
                   count(*) FILTER (WHERE score.imported AND score.timed),
                   count(*) FILTER (WHERE score.imported AND score.visible ? 'verdict')
            FROM review_score score JOIN review_item item ON item.id = score.item_id
            WHERE item.campaign_id = %s
            """,
            [campaign.pk],
        )
        return dict(zip(("here", "imported", "timed", "visible"), cursor.fetchone(), strict=True))


def _count_quarters(campaign: Campaign) -> dict[str, Counter[tuple[int, int]]]:
    """Of each way to cut, how many scores have (quarter, value)."""
    found: dict[str, Counter[tuple[int, int]]] = {"position": Counter(), "sitting": Counter()}
    with connection.cursor() as cursor:
        cursor.execute(_QUARTERS, [campaign.pk])
        for cut, quarter, value, times in cursor.fetchall():
            found[cut][quarter, value] = times
    return found


def _share_quarters(counts: Mapping[tuple[int, int], int]) -> Document:
    return {
        criterion.value: [share.as_json() for share in share_by_quarter(counts, criterion)]
        for criterion in Criterion
    }


def _report_repeats(campaign: Campaign) -> Document:
    """How far reviewers agree with themselves on hidden repeats: all together, and each."""
    pairs: dict[int, Counter[tuple[int, int]]] = defaultdict(Counter)
    for reviewer, first, again, times in _read_again(_REPEATS, campaign, Item.Again.REPEAT):
        pairs[reviewer][first, again] = times
    names = dict(User.objects.filter(pk__in=pairs).values_list("pk", "username"))
    together = sum(pairs.values(), Counter[tuple[int, int]]())
    return {
        "all": asdict(compare_repeats(together)),
        "reviewers": [
            {"reviewer": names[key]} | asdict(compare_repeats(one))
            for key, one in sorted(pairs.items(), key=lambda pair: names[pair[0]])
        ],
    }


def _report_halo(campaign: Campaign) -> Document:
    """How far another reviewer, who did not know what it was, judged refined scripts differently."""
    pairs: Counter[tuple[int, int]] = Counter()
    made = scored = 0
    for pattern, other, times in _read_again(_HALO, campaign, Item.Again.HALO):
        made += times
        if other is None:
            continue
        scored += times
        usual = ItemPattern.from_text(pattern).refined if pattern else None
        if usual is not None and usual.value in "012":
            pairs[int(usual.value), other] += times
    compared = {criterion.value: asdict(compare_halo(pairs, criterion)) for criterion in Criterion}
    return {"made": made, "scored": scored, "compared": sum(pairs.values()), **compared}


def _read_again(sql: str, campaign: Campaign, again: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, {"campaign": campaign.pk, "again": again})
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _report_rubric(campaign: Campaign) -> Document:
    """Each version with the scores that name it, and what was said of those before it."""
    choices: dict[int, list[Document]] = defaultdict(list)
    for one in rubric_choices(campaign):
        choices[one.rubric].append(asdict(one) | {"at": one.at.isoformat(timespec="seconds")})
    undecided = count_undecided(campaign)
    return {
        "versions": [
            {
                "number": use.rubric.number,
                "at": use.rubric.created_at.isoformat(timespec="seconds"),
                "scores": use.scores,
                "choices": choices[use.rubric.number],
            }
            for use in rubric_uses(campaign)
        ],
        "undecided": undecided,
    }


def _report_adjudications(campaign: Campaign) -> Document:
    """How many stages of items were settled, and how often against all who had agreed under a criterion."""
    settled, overturned = 0, Counter[str]()
    adjudicated = campaign.items.filter(adjudications__arm="model").exclude(
        state=Item.State.WITHDRAWN
    )
    keys = list(adjudicated.order_by("pk").values_list("pk", flat=True).distinct())
    for start in range(0, len(keys), _SLICE):
        items = list(campaign.items.filter(pk__in=keys[start : start + _SLICE]))
        for judged in judge_items(items).values():
            if judged.is_real:
                settled += sum(arm is Arm.MODEL for _stage, arm in judged.adjudicated)
                overturned.update(criterion.value for _stage, criterion in overturned_of(judged))
    return {"settled": settled, "overturned": {one.value: overturned[one] for one in Criterion}}


def _report_skips(campaign: Campaign) -> list[Document]:
    """How many items each reviewer skipped or could not judge, by Configuration and verdict."""
    rows = campaign.tallies.filter(
        kind=Tally.Kind.SUM, pattern__contains="|", count__gt=0
    ).values_list("configuration__name", "pattern", "count")
    read = [(arm, pattern.split("|"), times) for arm, pattern, times in rows]
    keys = {int(key) for _arm, (_how, key, _verdict), _times in read}
    names = dict(User.objects.filter(pk__in=keys).values_list("pk", "username"))
    found: list[Document] = [
        {
            "configuration": arm,
            "how": how,
            "reviewer": names[int(key)],
            "verdict": verdict,
            "items": times,
        }
        for arm, (how, key, verdict), times in read
    ]
    return sorted(found, key=lambda row: [str(value) for value in row.values()])


def _report_looks(campaign: Campaign) -> Document:
    looks = campaign.looks.select_related("by").order_by("-pk")
    return {
        "count": looks.count(),
        "newest": [
            {
                "by": look.by.username if look.by else "",
                "at": look.at.isoformat(timespec="seconds"),
                "scored": look.scored,
            }
            for look in looks[:MOST_LOOKS]
        ],
    }
