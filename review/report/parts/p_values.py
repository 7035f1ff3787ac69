"""The p values of a report: one that was named before the campaign opened, and all others as one family.

They are shown once the campaign is closed: a p value that is looked at again and again finds something by chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from review.counting.contributions import HERE
from review.counting.counts import Counts
from review.models import Campaign
from review.study import Criterion
from review.study.figures import NOT_PART
from review.study.statistics.p_values import adjust_by_holm

Holder = dict[str, Any]  # a part of the document with a `p_value`


def are_shown(campaign: Campaign, counts: Sequence[Counts]) -> bool:
    """Whether the study has ended: it is closed, or was never opened and all its scores were made elsewhere."""
    if campaign.state == Campaign.State.CLOSED:
        return True
    is_imported = not any(one.sums[HERE] for one in counts)
    return campaign.state == Campaign.State.SETUP and is_imported


def settle_p_values(
    campaign: Campaign,
    document: Mapping[str, object],
    details: Mapping[str, object],
    *,
    is_shown: bool,
) -> dict[str, object]:
    """Put `p_holm` beside each p value, or take all away where they are not shown yet; returns what is said of them."""
    primary = _primary_of(campaign, details)
    family = [one for one in _family(document, details) if one is not primary]
    adjusted = adjust_by_holm([one["p_value"] for one in family])
    for one, p_holm in zip(family, adjusted, strict=True):
        one["p_holm"] = p_holm
    if primary is not None:
        primary["p_holm"], primary["is_primary"] = None, True
    if not is_shown:
        for one in [*family, *([primary] if primary is not None else [])]:
            one["p_value"] = one["p_holm"] = None
    return {
        "shown": is_shown,
        "family": len(family),
        "primary": None
        if primary is None
        else {
            "figure": campaign.primary_figure,
            "criterion": campaign.primary_criterion,
            "first": campaign.primary_first.name if campaign.primary_first else "",
            "second": campaign.primary_second.name if campaign.primary_second else "",
            **{key: primary[key] for key in ("value", "low", "high", "p_value", "reason")},
        },
    }


def _primary_of(campaign: Campaign, details: Mapping[str, object]) -> Holder | None:
    """The comparison that was named, turned the way it was named; None where none was, or it is not there."""
    pair = [campaign.primary_first, campaign.primary_second]
    if None in pair or not campaign.primary_criterion:
        return None
    names = [one.name for one in pair if one]
    for one in cast("list[Holder]", details["comparisons"]):
        if sorted((one["first"], one["second"])) == sorted(names):
            under: Holder = one[campaign.primary_criterion]
            return under.get(campaign.primary_figure)
    return None


def _family(document: Mapping[str, object], details: Mapping[str, object]) -> Iterator[Holder]:
    """All parts with a p value, in the order of the report."""
    for arm in cast("list[Holder]", document["configurations"]):
        for criterion in Criterion:
            if arm[criterion.value]["net"]["reason"] != NOT_PART:
                yield arm[criterion.value]["net"]
    for one in cast("list[Holder]", details["comparisons"]):
        for criterion in Criterion:
            yield from (found for found in one[criterion.value].values() if found["is_part"])
    for arm in cast("list[Holder]", details["arms"]):
        for criterion in Criterion:
            for name in ("expert", "expert_by_all"):
                if arm[criterion.value][name]["change"]["items"]:
                    yield arm[criterion.value][name]["change"]
