"""Parts of a large study's report that take seconds to compute. A worker updates them, and pages only read them."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connection
from django.utils import timezone

from review.models import Campaign, ReportPart

# A study with more items than this is large.
LARGE_STUDY = 10_000
# A part is recomputed only after 20 times its computing time, so it takes at most 5% of a worker's time.
_REST = 20
# Recompute an unchanged part after this time. The state ignores some changes, such as a verdict shown on a run's page.
_OLDEST = timedelta(hours=1)


class Part(NamedTuple):
    """A part of the report as JSON."""

    name: str
    compute: Callable[[Campaign], Any]


class Kept(NamedTuple):
    """A part's data and the time of its computation, or None if the data is current."""

    data: Any
    at: datetime | None = None


def read_part(campaign: Campaign, part: Part) -> Kept:
    """Return a part of the report: the stored data of a large study, or newly computed data otherwise."""
    if not is_large(campaign):
        return Kept(part.compute(campaign))
    kept = ReportPart.objects.filter(campaign=campaign, name=part.name).first()
    return Kept(kept.data, kept.at) if kept else _compute(campaign, part, _state_of(campaign))


def update_parts(campaign: Campaign, *parts: Part) -> None:
    """Recompute those parts of a large study whose input data has changed."""
    if not is_large(campaign):
        return
    kept = {one.name: one for one in campaign.report_parts.defer("data")}
    state, now = _state_of(campaign), timezone.now()
    for part in parts:
        old = kept.get(part.name)
        if old is None or (
            (old.state != state or old.at < now - _OLDEST)
            and old.at < now - timedelta(seconds=_REST * old.seconds)
        ):
            _compute(campaign, part, state)


def is_large(campaign: Campaign) -> bool:
    """Return whether the campaign has too many items to count all scores in a page request."""
    return campaign.items.order_by()[LARGE_STUDY : LARGE_STUDY + 1].exists()


def _compute(campaign: Campaign, part: Part, state: str) -> Kept:
    at, began = timezone.now(), time.perf_counter()
    data = part.compute(campaign)
    values = {"state": state, "at": at, "seconds": time.perf_counter() - began, "data": data}
    ReportPart.objects.update_or_create(campaign=campaign, name=part.name, defaults=values)
    return Kept(data, at)


def state_of_counts(campaign: Campaign) -> str:
    """Return a string that changes with the campaign's counts, tests, test results and execution labels.

    Sums of 64-bit row hashes need no sorting and practically never collide. Hashing the sorted rows takes more than
    twice as long.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT count(*), sum(hash_record_extended((configuration_id, kind, count, pattern), 0)),
                (SELECT max(said.id) FROM review_caserevision said JOIN review_item item ON item.id = said.item_id
                    WHERE item.campaign_id = %s),
                (SELECT max(said.id) FROM review_executionlabel said JOIN review_item item ON item.id = said.item_id
                    WHERE item.campaign_id = %s),
                (SELECT max(result.id) FROM catalog_execution result WHERE result.case_set_id IN (
                    SELECT bound.case_set_id FROM review_campaigncaseset bound
                        JOIN review_case kept ON kept.id = bound.case_id WHERE kept.campaign_id = %s
                    UNION SELECT said.merged_id FROM review_caserevision said
                        JOIN review_item item ON item.id = said.item_id WHERE item.campaign_id = %s)),
                (SELECT count(*) FROM review_campaigncaseset bound
                    JOIN review_case kept ON kept.id = bound.case_id WHERE kept.campaign_id = %s)
            FROM review_tally WHERE campaign_id = %s AND count <> 0 AND pattern NOT LIKE '@%%'
            """,
            [campaign.pk] * 6,
        )
        row = cursor.fetchone()
    return ":".join(str(one or "nothing") for one in row)


def _state_of(campaign: Campaign) -> str:
    """Return a string that changes with the input data of the parts."""
    with connection.cursor() as cursor:
        cursor.execute(_SEEN, {"campaign": campaign.pk})
        return f"{campaign.state}:{state_of_counts(campaign)}:{cursor.fetchone()}"


# The other inputs of the threats to validity: views of verdicts, rubrics, and usernames.
_SEEN = """
    SELECT (SELECT max(id) FROM review_exposure WHERE campaign_id = %(campaign)s),
        (SELECT max(one.id) FROM review_reveal one JOIN review_item item ON item.id = one.item_id
            WHERE item.campaign_id = %(campaign)s),
        (SELECT count(unblinded_at) FROM review_member WHERE campaign_id = %(campaign)s),
        (SELECT max(id) FROM review_rubric WHERE campaign_id = %(campaign)s),
        (SELECT sum(hashtext(username)) FROM auth_user)
"""
