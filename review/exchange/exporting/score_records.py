"""Export scores, adjudications, skips and comments, and the campaign's own data.

Rows are read in slices by primary key, so that memory use does not depend on the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import F, Model, QuerySet
from django.forms.models import model_to_dict
from django.utils import timezone

from pipeline.types import Arm
from review.exchange.exporting.item_records import Fields, when
from review.models import Adjudication, Assignment, Campaign, Flag, Remark, Score

SLICE = 5_000
_ITEM = {"item": "item__case__external_id", "configuration": "item__configuration__name"}
_ABOUT = {**_ITEM, "purpose": "item__case__purpose", "demo": "item__run__demo"}
_SCORE = {
    **_ABOUT,
    "reviewer": "reviewer__username",
    "stage": "stage",
    "value": "value",
    "arm": "arm",
    "comment": "comment",
    "at": "at",
    "timed": "timed",
    "round": "draft__round",
    "blind": "blind",
    "current": "current",
    "undone_at": "undone_at",
    "imported": "imported",
    "draft": "draft__number",
    "draft_sha256": "draft__sha256",
    "feedback_on_sha256": "feedback__draft__sha256",
    "feedback_by": "draft__feedback__author__username",
    "own_feedback_by": "feedback__author__username",
    "visible": "visible",
    "view": "view",
    "position": "position",
    "sitting_minutes": "sitting_minutes",
    "active_seconds": "active_seconds",
    "rubric": "rubric__number",
    "earlier_by": "earlier_by",
    "reason": "assignment__reason",
    "assigned_at": "assignment__created_at",
    "submitted_at": "assignment__ended_at",
    "pauses": "assignment__pauses",
}
_ADJUDICATION = {
    **_ABOUT,
    "reviewer": "by__username",
    "stage": "stage",
    "value": "value",
    "arm": "arm",
    "comment": "why",
    "at": "at",
    "current": "current",
    "imported": "imported",
}
_SKIP = {
    **_ABOUT,
    "reviewer": "reviewer__username",
    "passed_over": "state",
    "comment": "why",
    "at": "ended_at",
    "reason": "reason",
    "assigned_at": "created_at",
}
_FLAG = {
    **_ABOUT,
    "reviewer": "by__username",
    "comment": "reason",
    "at": "at",
    "answer": "resolution",
    "answered_by": "resolved_by__username",
    "answered_at": "resolved_at",
}
_REMARK = {
    **_ABOUT,
    "reviewer": "by__username",
    "comment": "text",
    "draft": "draft__number",
    "draft_sha256": "draft__sha256",
    "line": "line",
    "at": "at",
    "removed_at": "removed_at",
}


def campaign_record(campaign: Campaign) -> Fields:
    """Return a record with the campaign's rules, the versions of its rubric, and its reviewers."""
    rules = model_to_dict(
        campaign, exclude=["id", "batch", "configurations", "cloned_from", "created_by"]
    )
    return {
        "record": "campaign",
        "id": campaign.name,
        "about": {
            **{
                name: when(value) if isinstance(value, datetime) else value
                for name, value in rules.items()
            },
            # Use names instead of primary keys, because names are also valid in other installations.
            "primary_first": campaign.primary_first.name if campaign.primary_first else None,
            "primary_second": campaign.primary_second.name if campaign.primary_second else None,
            "created_at": when(campaign.created_at),
            "exported_at": when(timezone.now()),
            "configurations": list(
                campaign.items.order_by("configuration__name")
                .values_list("configuration__name", flat=True)
                .distinct()
            ),
            "reviewers": list(
                campaign.members.order_by("user").values_list("user__username", flat=True)
            ),
            "rubrics": [
                {"number": one.number, "text": one.text, "at": when(one.created_at)}
                for one in campaign.rubrics.order_by("number")
            ],
        },
    }


def score_records(campaign: Campaign) -> Iterator[Fields]:
    """Yield a record for each score, including replaced scores, in the order in which they were saved."""
    names = _Names()
    for fields in _rows(Score.objects.filter(item__campaign=campaign), "score", _SCORE):
        earlier = fields["earlier_by"]
        if isinstance(earlier, dict):
            fields["earlier_by"] = {stage: names.of(key) for stage, key in earlier.items()} or None
        visible = fields["visible"]
        fields["copied"] = isinstance(visible, dict) and "copied_from" in visible
        # The author of the scored feedback, or of the feedback that the scored script was refined from.
        own = fields.pop("own_feedback_by")
        fields["feedback_by"] = fields["feedback_by"] or own
        # Scores imported without a time store the time of the import, which is not exported.
        if not fields.pop("timed"):
            fields["at"] = None
        if fields["stage"] != Score.Stage.REFINED or fields["arm"] != Arm.MODEL:
            fields["round"] = None
        yield fields


class _Names:
    """A cache of usernames by primary key."""

    def __init__(self) -> None:
        self._known: dict[int, str] = {}

    def of(self, key: int) -> str:
        """Return the user's name, or "" if the user does not exist."""
        if key not in self._known:
            found = User.objects.filter(pk=key).values_list("username", flat=True)
            self._known[key] = found.first() or ""
        return self._known[key]


def other_records(campaign: Campaign) -> Iterator[Fields]:
    """Yield records of adjudications, skipped items, flags and line comments."""
    skips = Assignment.objects.filter(item__campaign=campaign, state__in=Assignment.PASSED_OVER)
    yield from _rows(
        Adjudication.objects.filter(item__campaign=campaign), "adjudication", _ADJUDICATION
    )
    yield from _rows(skips, "skip", _SKIP)
    yield from _rows(Flag.objects.filter(item__campaign=campaign), "flag", _FLAG)
    yield from _rows(Remark.objects.filter(item__campaign=campaign), "remark", _REMARK)


def _rows(queryset: QuerySet[Model], kind: str, columns: dict[str, str]) -> Iterator[Fields]:
    names, last = list(columns), 0
    rows = queryset.order_by("pk").values_list("pk", *(F(path) for path in columns.values()))
    while found := list(rows.filter(pk__gt=last)[:SLICE]):
        for _key, *values in found:
            fields: Fields = {"record": kind}
            for name, value in zip(names, values, strict=True):
                fields[name] = when(value) if isinstance(value, datetime) else value
            yield fields
        last = found[-1][0]
