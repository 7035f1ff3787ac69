"""The numbers for each threat to validity, computed from data recorded with the scores."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from typing import cast

from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.utils import timezone

from pipeline.types import Arm
from review.campaigns.services.rubrics import count_undecided, rubric_choices, rubric_uses
from review.counting.facts import judge_items
from review.counting.score_reader import IS_BLIND
from review.counting.used_scores import used_of_several
from review.models import Campaign, Item, Tally
from review.report.kept_parts import Part, read_part
from review.report.parts.p_values import has_ended
from review.report.threats.blindness import report_unblinded
from review.report.threats.examples import report_examples
from review.report.threats.origin import check_times, count_origins, describe_pilot
from review.report.threats.peeking import report_looks
from review.report.threats.shown_again import (
    hide_p_values,
    is_halo_planned,
    report_halo,
    report_repeats,
)
from review.study import Criterion, Values, overturned_of
from review.study.threats import share_by_quarter, threats_of

Document = dict[str, object]
KEPT_SECONDS = 300
_SLICE = 1_000

# The deciding script scores by quarter of a session (`sitting`) and by quarter of a reviewer's whole work (`position`).
# For each quarter, the query counts the statements that have the same numbers of scores of 0, 1 and 2. A new session
# begins when `sitting_minutes` does not increase. Sessions with fewer than four scores are excluded. `used` contains
# the deciding scores of reviewers who scored an item more than once.
_QUARTERS = f"""
    WITH every AS (
        SELECT score.id, score.item_id, score.reviewer_id, score.value, score.at, score.position,
               score.sitting_minutes, score.undone_at, item.case_id,
               count(*) OVER (PARTITION BY score.item_id, score.reviewer_id) AS times,
               {IS_BLIND} OR NOT campaign.hides_verdict AS counts
        FROM review_score score JOIN review_item item ON item.id = score.item_id
        JOIN review_campaign campaign ON campaign.id = item.campaign_id
        JOIN review_case "case" ON "case".id = item.case_id
        WHERE item.campaign_id = %(campaign)s AND "case".purpose = 'real' AND item.state <> 'withdrawn'
          AND (NOT item.pilot OR campaign.pilot_counts) AND score.stage = 'script' AND NOT score.visible ? 'copied_from'
    ), given AS (
        SELECT *, lag(sitting_minutes) OVER turn >= sitting_minutes AS is_new FROM every
        WHERE sitting_minutes IS NOT NULL
          AND (times = 1 AND undone_at IS NULL AND counts OR id = ANY(%(used)s))
        WINDOW turn AS (PARTITION BY reviewer_id ORDER BY at, id)
    ), seated AS (
        SELECT *, count(*) FILTER (WHERE is_new) OVER (PARTITION BY reviewer_id ORDER BY at, id) AS sitting
        FROM given
    ), placed AS (
        SELECT value, coalesce(nullif(action.statement_sha256, ''), 'case ' || case_id) AS statement,
               ntile(4) OVER (PARTITION BY reviewer_id, sitting ORDER BY at, seated.id) - 1 AS of_sitting,
               count(*) OVER (PARTITION BY reviewer_id, sitting) AS in_sitting,
               ntile(4) OVER (PARTITION BY reviewer_id ORDER BY position, seated.id) - 1 AS of_all,
               count(*) OVER (PARTITION BY reviewer_id) AS in_all
        FROM seated JOIN review_case "case" ON "case".id = case_id
        JOIN pipeline_action action ON action.id = "case".action_id
    ), cut AS (
        SELECT 'sitting' AS cut, of_sitting AS quarter, statement, value FROM placed WHERE in_sitting >= 4
        UNION ALL
        SELECT 'position', of_all, statement, value FROM placed WHERE in_all >= 4
    ), counted AS (
        SELECT cut, quarter, count(*) FILTER (WHERE value = 0) AS zeros,
               count(*) FILTER (WHERE value = 1) AS ones, count(*) FILTER (WHERE value = 2) AS twos
        FROM cut GROUP BY cut, quarter, statement
    )
    SELECT cut, quarter, zeros, ones, twos, count(*) FROM counted GROUP BY 1, 2, 3, 4, 5
"""


def recent_threats(campaign: Campaign) -> Document:
    """Return the threats, at most five minutes old or, in a large study, from the last background update."""
    # The key includes the state, because closing the campaign shows p values and reopening hides them.
    key = f"threats:{campaign.pk}:{campaign.state}"
    found: Document | None = cache.get(key)
    if found is not None:
        return found
    kept = read_part(campaign, THREATS)
    if kept.at is None:
        cache.set(key, kept.data, KEPT_SECONDS)
        return cast(Document, kept.data)
    # The campaign may have been reopened in the meantime.
    is_shown = _shows_halo_p(campaign, kept.data["origin"])
    halo = kept.data["halo"] if is_shown else hide_p_values(kept.data["halo"])
    return {**kept.data, "halo": halo, "looks": report_looks(campaign)}


def report_threats(campaign: Campaign) -> Document:
    """Return each threat of the study with its numbers, as JSON."""
    quarters = _count_quarters(campaign)
    origin = count_origins(campaign)
    here, imported = origin["here"], origin["imported"]
    return {
        "at": timezone.now().isoformat(timespec="seconds"),
        "threats": [asdict(threat) for threat in threats_of(here=here, imported=imported)],
        "origin": origin | {"times": check_times(campaign) if origin["timed"] else None},
        "is_blind": campaign.hides_verdict,
        "order": {"order": campaign.order, "seed": campaign.seed},
        "position": _share_quarters(quarters["position"]),
        "sitting": _share_quarters(quarters["sitting"]),
        "halo": report_halo(
            # Hide a p value that is not part of the family.
            campaign,
            with_p=_shows_halo_p(campaign, origin),
        ),
        "repeats": report_repeats(campaign),
        "rubric": _report_rubric(campaign),
        "skips": _report_skips(campaign),
        "adjudications": _report_adjudications(campaign),
        "unblinded": report_unblinded(campaign),
        "examples": report_examples(campaign),
        "looks": report_looks(campaign),
        "shares": {
            "sham": campaign.sham_share,
            "halo": campaign.halo_share,
            "repeats": campaign.repeat_share,
        },
        "pilot": describe_pilot(campaign),
        "planned": {
            "items": campaign.planned_items,
            "figure": campaign.primary_figure,
            "chosen": campaign.primary_chosen,
        },
    }


THREATS = Part("threats", report_threats)


def _shows_halo_p(campaign: Campaign, origin: Mapping[str, int]) -> bool:
    return is_halo_planned(campaign) and has_ended(campaign, is_imported=not origin["here"])


def _count_quarters(campaign: Campaign) -> dict[str, dict[int, Counter[Values]]]:
    """Return, for each grouping and quarter, the number of statements per combination of scores."""
    found: dict[str, dict[int, Counter[Values]]] = {
        cut: defaultdict(Counter) for cut in ("position", "sitting")
    }
    with connection.cursor() as cursor:
        used = used_of_several(campaign)
        cursor.execute(_QUARTERS, {"campaign": campaign.pk, "used": used})
        for cut, quarter, zeros, ones, twos, times in cursor.fetchall():
            found[cut][quarter][Values(zeros, ones, twos)] = times
    return found


def _share_quarters(counts: Mapping[int, Mapping[Values, int]]) -> Document:
    return {
        criterion.value: [share.as_json() for share in share_by_quarter(counts, criterion)]
        for criterion in Criterion
    }


def _report_rubric(campaign: Campaign) -> Document:
    """Return the rubric versions with their numbers of scores and the decisions about earlier scores."""
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
    """Return the number of adjudicated stages, and the number of results that overruled unanimous reviewers."""
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
    """Return the number of items that each reviewer skipped or could not judge, by Configuration and verdict."""
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
