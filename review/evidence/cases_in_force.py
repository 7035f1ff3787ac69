"""Determine which case sets count in a campaign: the sets fixed for each case, or reviewers' revisions of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User

from catalog.models import CaseSet
from catalog.services import case_sets_for
from review.blinding.item_view import ItemView
from review.models import Campaign, CaseRevision, Item


@dataclass(frozen=True)
class InForce:
    """An original case set (`root`) and its current version, which is None if all of its test cases were removed."""

    root: CaseSet
    case_set: CaseSet | None
    revision: CaseRevision | None = None


def roots_of(item: Item) -> list[CaseSet]:
    """Return an item's original case sets.

    In a study, these are the sets fixed for its case. In the review queue, these are the statement's sets.
    """
    if item.campaign.is_live:
        return list(case_sets_for(item.case.action.statement))
    case = item.case.repeats_id or item.case_id
    return list(CaseSet.objects.filter(counted_for__case=case).order_by("pk"))


def sets_seen_by(desk: ItemView) -> list[InForce]:
    """Return the case sets on this reviewer's page.

    If the campaign hides reviewers, exclude other reviewers' changes.
    """
    roots = roots_of(desk.item)
    if desk.visible["reviewers"]:
        return sets_of_all(desk.item.campaign, roots)
    last = _last(revisions_of(desk.item.campaign, roots, by=desk.reviewer))
    return [
        InForce(root, last[root.pk].case_set, last[root.pk])
        if root.pk in last
        else InForce(root, root)
        for root in roots
    ]


def sets_of_all(campaign: Campaign, roots: Sequence[CaseSet]) -> list[InForce]:
    """Return the case sets that count in the campaign, with all reviewers' changes."""
    last = _last(revisions_of(campaign, roots))
    return [
        InForce(root, last[root.pk].merged, last[root.pk])
        if root.pk in last
        else InForce(root, root)
        for root in roots
    ]


def revisions_of(
    campaign: Campaign, roots: Collection[CaseSet], *, by: User | None = None
) -> list[CaseRevision]:
    """Return the changes to these sets in this campaign, oldest first, from one user or from all users."""
    if not roots:
        return []
    found = CaseRevision.objects.filter(item__campaign=campaign, root__in=roots)
    if by is not None:
        found = found.filter(by=by)
    return list(found.select_related("case_set", "merged", "former", "by").order_by("pk"))


def _last(revisions: Iterable[CaseRevision]) -> dict[int, CaseRevision]:
    return {one.root_id: one for one in revisions}
