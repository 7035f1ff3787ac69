"""Reports on the reviewer checks: hidden repeats, and halo checks (refined scripts shown as first Drafts)."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import asdict
from typing import Any

from django.contrib.auth.models import User

from review.counting.shown_again import read_halos, read_repeats
from review.models import Campaign
from review.study import Criterion
from review.study.family import HALO
from review.study.threats import compare_halo, compare_repeats

Document = dict[str, object]


def report_repeats(campaign: Campaign) -> Document:
    """Return the agreement of reviewers with their own scores on hidden repeats, in total and by reviewer."""
    pairs: dict[int, Counter[tuple[int, int]]] = defaultdict(Counter)
    for reviewer, first, again in read_repeats(campaign):
        pairs[reviewer][first, again] += 1
    names = dict(User.objects.filter(pk__in=pairs).values_list("pk", "username"))
    together = sum(pairs.values(), Counter[tuple[int, int]]())
    return {
        "all": asdict(compare_repeats(together)),
        "reviewers": [
            {"reviewer": names[key]} | asdict(compare_repeats(one))
            for key, one in sorted(pairs.items(), key=lambda pair: names[pair[0]])
        ],
    }


def report_halo(campaign: Campaign, *, with_p: bool = True) -> Document:
    """Return the difference between the usual scores of refined scripts and the scores from halo checks.

    Pass `with_p=False` while the study is open.
    """
    statements: dict[str, list[tuple[int, int]]] = defaultdict(list)
    made = scored = 0
    for shown in read_halos(campaign):
        made += max(1, len(shown.values))
        scored += len(shown.values)
        usual = shown.original.refined if shown.original else None
        if usual is not None and usual.value in "012":
            statements[shown.statement] += [(int(usual.value), other) for other in shown.values]
    compared = {
        criterion.value: asdict(compare_halo(statements.values(), criterion))
        for criterion in Criterion
    }
    found = {
        "made": made,
        "scored": scored,
        "compared": sum(map(len, statements.values())),
        **compared,
    }
    return found if with_p else hide_p_values(found)


def hide_p_values(halo: dict[str, Any]) -> dict[str, Any]:
    """Return the results of the halo checks without p values."""
    return halo | {one.value: halo[one.value] | {"p_value": None} for one in Criterion}


def compare_halo_checks(campaign: Campaign) -> Document:
    """Return the halo check's difference under each criterion, or an empty dictionary if no halo check is planned."""
    if not is_halo_planned(campaign):
        return {}
    halo = report_halo(campaign)
    return {criterion.value: halo[criterion.value] for criterion in Criterion}


def is_halo_planned(campaign: Campaign) -> bool:
    """Return whether a halo check was planned, in this campaign or in the installation that exported the campaign."""
    return campaign.halo_share > 0 or any(one[0] == HALO for one in campaign.p_family or ())
