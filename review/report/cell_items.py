"""Find the items in one cell of the table that compares the assessor with the experts."""

from __future__ import annotations

from django.db.models import F, Func, QuerySet, TextField, Value
from django.utils.translation import gettext as _

from core.errors import BadInput
from pipeline.types import Verdict
from review.models import Campaign, Item, Tally
from review.study import Criterion, ItemPattern
from review.study.types import Origin

NEVER_ASSESSED = "never_assessed"
_VERDICTS = {**{one.value: one for one in Verdict}, NEVER_ASSESSED: None}
_SIDES = {"right": True, "wrong": False}


def find_cell(
    campaign: Campaign, *, configuration: str, cell: str, criterion: Criterion
) -> QuerySet[Item]:
    """Return a Configuration's items that are counted in a cell, such as `incorrect-right`.

    Raises BadInput if the cell does not exist.
    """
    verdict, _dash, side = cell.partition("-")
    if verdict not in _VERDICTS or side not in _SIDES:
        raise BadInput(_("The assessor table does not have this cell."), field="cell")
    texts = campaign.tallies.filter(
        configuration__name=configuration, kind=Tally.Kind.ITEM, count__gt=0
    ).values_list("pattern", flat=True)
    wanted = [
        text
        for text in texts
        for pattern in [ItemPattern.from_text(text)]
        if pattern.origin is not Origin.RETRIEVED
        and pattern.verdict is _VERDICTS[verdict]
        and pattern.script.right(criterion) is _SIDES[side]
    ]
    # An item stores its pattern as the first string of a JSON list.
    kept = Func(F("pattern"), Value('"'), Value(2), function="split_part", output_field=TextField())
    return (
        campaign.items.filter(configuration__name=configuration)
        .annotate(counted_as=kept)
        .filter(counted_as__in=wanted)
    )
