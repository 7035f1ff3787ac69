"""Find the items behind a figure, and record why execution and experts disagree on an item."""

from __future__ import annotations

from typing import Literal

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import F, Func, QuerySet, TextField, Value
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput
from review.models import Campaign, Item, Tally, TallyDue
from review.study import FIGURES, Criterion, ItemPattern, patterns_behind, patterns_open
from review.study.figures import EXECUTION_REASONS

Which = Literal["all", "numerator", "rest", "open"]


def find_items(
    campaign: Campaign, *, configuration: str, figure: str, criterion: Criterion, which: Which
) -> QuerySet[Item]:
    """Return the items of a figure: all, those in the numerator, the rest of the denominator, or the open items.

    Open items are excluded from the figure because a score is missing. Raises BadInput if the figure does not exist.
    """
    if figure not in {one.name for one in FIGURES}:
        raise BadInput(_("Unknown figure."), field="figure")
    texts = campaign.tallies.filter(
        configuration__name=configuration, kind=Tally.Kind.ITEM, count__gt=0
    ).values_list("pattern", flat=True)
    patterns = {ItemPattern.from_text(text): 1 for text in texts}
    if which == "open":
        wanted = set(patterns_open(patterns, figure, criterion))
    else:
        wanted = set(
            patterns_behind(patterns, figure, criterion, only_numerator=which == "numerator")
        )
    if which == "rest":
        wanted -= set(patterns_behind(patterns, figure, criterion, only_numerator=True))
    # An item stores its pattern as the first string of a JSON list.
    kept = Func(F("pattern"), Value('"'), Value(2), function="split_part", output_field=TextField())
    return (
        campaign.items.filter(configuration__name=configuration)
        .annotate(counted_as=kept)
        .filter(counted_as__in=[pattern.to_text() for pattern in wanted])
    )


@transaction.atomic
def explain_execution(item: Item, *, reason: str, by: User) -> None:
    """Record why execution and experts disagree on an item. An empty reason removes the recorded reason."""
    if not by.has_perm("review.manage_campaigns"):
        raise PermissionDenied(_("Giving a reason requires the Manager role."))
    if reason and reason not in EXECUTION_REASONS:
        raise BadInput(_("Choose a reason from the list."), field="reason")
    locked = Item.objects.select_for_update(of=("self",)).select_related("campaign").get(pk=item.pk)
    if locked.execution is None:
        raise BadInput(_("This item has no execution result."), field="reason")
    before = locked.execution_reason
    if before == reason:
        return
    locked.execution_reason = reason
    locked.save(update_fields=["execution_reason"])
    TallyDue.objects.create(item=locked, campaign=locked.campaign)
    record(locked, "execution explained", by=by, execution_reason=(before, reason))
