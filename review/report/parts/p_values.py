"""The p values of a report: the primary p value, and all others as one family that is fixed at the opening.

P values are shown only after the campaign has closed, because repeated checks of a p value cause chance findings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from pipeline.models import Configuration
from review.counting.contributions import HERE
from review.counting.counts import Counts
from review.models import Campaign
from review.study import Criterion
from review.study.definitions import Object
from review.study.family import EXPERT, HALO, NET, Hypothesis, between, settle_family
from review.study.figures import NOT_PART
from review.study.statistics.p_values import adjust_by_holm

Holder = dict[str, Any]  # a part of the document that contains a `p_value`


def are_shown(campaign: Campaign, counts: Sequence[Counts]) -> bool:
    """Return whether the report shows p values. The counts show whether all scores were imported."""
    return has_ended(campaign, is_imported=not any(one.sums[HERE] for one in counts))


def has_ended(campaign: Campaign, *, is_imported: bool) -> bool:
    """Return whether p values may be shown: the study is closed, or it never opened and all scores were imported."""
    return campaign.state == Campaign.State.CLOSED or (
        campaign.state == Campaign.State.SETUP and is_imported
    )


def settle_p_values(
    campaign: Campaign,
    document: Mapping[str, object],
    details: Mapping[str, object],
    objects: Mapping[str, frozenset[Object]],
    *,
    is_shown: bool,
) -> dict[str, object]:
    """Add `p_holm` to each p value, or remove all p values if they are hidden. Return notes on the family.

    The family was fixed when the campaign opened. `later` counts comparisons that were added afterward. `without`
    counts members of the family that have no p value, which Holm's method treats as 1. `not_foreseen` counts planned
    comparisons of experts' refinements that do not exist. In a campaign without a family (`fixed` is false), all p
    values of the report form the family.
    """
    own, primary = _find_primary(campaign, document, details)
    family = {key: one for key, one in _family(document, details) if one is not primary}
    planned = [Hypothesis(*one) for one in campaign.p_family or ()]
    without = settle_family([one for one in planned if one != own], family.keys(), objects)
    count_without = len(without) + sum(one["p_value"] is None for one in family.values())
    p_values = [*(one["p_value"] for one in family.values()), *(None for _one in without)]
    for one, p_holm in zip(family.values(), adjust_by_holm(p_values), strict=False):
        one["p_holm"] = p_holm
    if primary is not None:
        primary["p_holm"], primary["is_primary"] = None, True
    if not is_shown:
        for one in [*family.values(), *([primary] if primary is not None else [])]:
            one["p_value"] = one["p_holm"] = None
    return {
        "shown": is_shown,
        "family": len(p_values),
        "fixed": campaign.p_family is not None,
        "without": count_without,
        "not_foreseen": sum(
            one.figure in EXPERT and one.first in objects and one not in family for one in planned
        ),
        "later": len(family.keys() - set(planned)) if planned else 0,
        "primary": None
        if primary is None
        else {
            "figure": campaign.primary_figure,
            "criterion": campaign.primary_criterion,
            "first": _name_of(campaign.primary_first) or (own.first if own else ""),
            "second": _name_of(campaign.primary_second),
            **{key: primary[key] for key in ("value", "low", "high", "p_value", "reason")},
        },
    }


def _find_primary(
    campaign: Campaign, document: Mapping[str, object], details: Mapping[str, object]
) -> tuple[Hypothesis | None, Holder | None]:
    """Return the primary hypothesis, and the part of the report that contains its p value.

    The part is the comparison of the primary pair or, in a study with one Configuration, the net gain. The hypothesis
    is None if none was chosen. The part is None if it does not exist.
    """
    figure, criterion = campaign.primary_figure, campaign.primary_criterion
    if not figure or not criterion:
        return None, None
    names = sorted(filter(None, map(_name_of, (campaign.primary_first, campaign.primary_second))))
    if len(names) == 2:
        key = between(figure, criterion, names)
        for one in cast("list[Holder]", details["comparisons"]):
            if sorted((one["first"], one["second"])) == names:
                return key, one[criterion].get(figure)
        return key, None
    arms = cast("list[Holder]", document["configurations"])
    if figure != NET or len(arms) != 1:
        return None, None
    found: Holder = arms[0][criterion][NET]
    key = Hypothesis(NET, criterion, arms[0]["name"])
    return key, None if found["reason"] == NOT_PART else found


def _name_of(configuration: Configuration | None) -> str:
    return configuration.name if configuration else ""


def _family(
    document: Mapping[str, object], details: Mapping[str, object]
) -> Iterator[tuple[Hypothesis, Holder]]:
    """Yield the hypothesis and the part for each p value, in report order."""
    for arm in cast("list[Holder]", document["configurations"]):
        for criterion in Criterion:
            if arm[criterion.value][NET]["reason"] != NOT_PART:
                yield Hypothesis(NET, criterion.value, arm["name"]), arm[criterion.value][NET]
    for one in cast("list[Holder]", details["comparisons"]):
        for criterion in Criterion:
            for name, found in one[criterion.value].items():
                if found["is_part"]:
                    yield between(name, criterion.value, (one["first"], one["second"])), found
    for key, change in cast("dict[str, Holder]", details["halo"]).items():
        if change["items"]:
            yield Hypothesis(HALO, key, ""), change
    for arm in cast("list[Holder]", details["arms"]):
        for criterion in Criterion:
            for name in EXPERT:
                change = arm[criterion.value][name]["change"]
                if change["items"]:
                    yield Hypothesis(name, criterion.value, arm["name"]), change
