"""Erase reviewers' texts about test cases when an action is erased."""

from __future__ import annotations

from collections.abc import Collection

from django.db.models import Q

from review.models import CaseRevision


def erase_changes(action_id: int) -> None:
    """Erase the texts in reviewers' changes to an action's test cases. The changes themselves are kept."""
    CaseRevision.objects.filter(item__case__action=action_id).update(what="", reason="")


def sets_made_of(case_sets: Collection[int]) -> set[int]:
    """Return the case sets that reviewers derived from these sets and from no others."""
    found = CaseRevision.objects.filter(root__in=case_sets)
    made = {pk for pair in found.values_list("case_set", "merged") for pk in pair if pk}
    elsewhere = CaseRevision.objects.exclude(root__in=case_sets).filter(
        Q(case_set__in=made) | Q(merged__in=made)
    )
    return made.difference(
        pk for pair in elsewhere.values_list("case_set", "merged") for pk in pair
    )
