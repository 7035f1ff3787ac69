"""Match the rubric versions in a file to the campaign's versions with the same text."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib.auth.models import User
from django.db import transaction

from core.audit import record
from core.files.records import Record
from review.campaigns.services.rules import MAX_RUBRIC
from review.exchange.rows.values import RowProblem, count_of, objects_of, parts_of, text_of
from review.exchange.source import OWN
from review.models import Campaign, Rubric, Score

MOST = 1_000  # versions
CAMPAIGN = "campaign"


def read_rubrics(first: Record | None) -> dict[int, str]:
    """Return the rubric versions by number from an export's first record, or {} if it has no valid versions."""
    if first is None or first.problem or first.values.get(OWN) != CAMPAIGN:
        return {}
    found = {}
    try:
        for one in objects_of(parts_of(first.values, "about"), "rubrics", most=MOST):
            number = count_of(one, "number", least=1, most=MOST)
            found[number or 1] = text_of(one, "text", most=MAX_RUBRIC)
    except RowProblem:
        return {}
    return found


@transaction.atomic
def take_rubrics(
    campaign: Campaign, versions: Mapping[int, str], *, by: User | None
) -> dict[int, int]:
    """Return a dict that maps the file's version numbers to the campaign's versions with the same text.

    The file's versions are imported if the campaign's rubric is still empty and no score refers to it. Repeating the
    call changes nothing.
    """
    if not versions:
        return {}
    Campaign.objects.select_for_update(of=("self",), no_key=True).get(pk=campaign.pk)
    own = {one.number: one for one in campaign.rubrics.all()}
    if own.keys() == {1} and not own[1].text and not Score.objects.filter(rubric=own[1]).exists():
        for number, text in sorted(versions.items()):
            own[number], _made = Rubric.objects.update_or_create(
                campaign=campaign,
                number=number,
                defaults={"text": text},
                create_defaults={"text": text, "created_by": by},
            )
        record(campaign, "rubric imported", by=by, versions=(1, len(versions)))
    return {
        number: own[number].pk
        for number, text in versions.items()
        if number in own and own[number].text == text
    }
