"""The rules of a campaign as its own export says them, for a campaign that an import makes.

What was hidden decides which scores count, and the comparison that was named stands alone: without these an export
would come back with other figures.
"""

from __future__ import annotations

from core.files.records import Record
from pipeline.models import Configuration
from review.campaigns.services.rules import Rules
from review.exchange.importing.rubrics import CAMPAIGN
from review.exchange.rows.values import RowProblem, choice_of, count_of, flag_of, name_of, parts_of
from review.exchange.source import OWN
from review.models import Campaign
from review.study import FIGURES, Criterion
from review.study.compare import COMPARED
from review.study.family import EXPERT, HALO, NET, Hypothesis, between

_MOST = 1_000_000
_MOST_OF_FAMILY = 10_000
_LONGEST_NAME = 80


def read_rules(first: Record | None) -> Rules:
    """The rules that figures hang on; those of a new campaign where the file does not begin with an export's."""
    about = _about(first)
    try:
        return Rules(
            hides_verdict=flag_of(about, "hides_verdict", default=True),
            hides_models=flag_of(about, "hides_models", default=True),
            hides_reviewers=flag_of(about, "hides_reviewers", default=True),
            hides_execution=flag_of(about, "hides_execution", default=True),
            hides_reference=flag_of(about, "hides_reference", default=True),
            planned_items=count_of(about, "planned_items", least=1, most=_MOST),
            primary_figure=choice_of(about, "primary_figure", tuple(one.name for one in FIGURES)),
        )
    except RowProblem:
        return Rules()


def name_primary(campaign: Campaign, first: Record | None) -> None:
    """Note the comparison that the export names, once its configurations are there."""
    about = _about(first)
    try:
        criterion = choice_of(about, "primary_criterion", tuple(one.value for one in Criterion))
        names = [
            name_of(about, name, most=_LONGEST_NAME) for name in ("primary_first", "primary_second")
        ]
    except RowProblem:
        return
    if criterion and not any(names):
        # Of the only configuration: there is no pair to name.
        campaign.primary_criterion = criterion
        campaign.save(update_fields=["primary_criterion"])
        return
    found = {one.name: one for one in Configuration.objects.filter(name__in=names)}
    if not criterion or len(found) != 2 or campaign.primary_figure not in COMPARED:
        return
    campaign.primary_criterion = criterion
    campaign.primary_first, campaign.primary_second = found[names[0]], found[names[1]]
    campaign.save(update_fields=["primary_criterion", "primary_first", "primary_second"])


def keep_family(campaign: Campaign, first: Record | None) -> None:
    """Keep the family of p values that was fixed in the exporting installation; an invalid one is left out."""
    given = _about(first).get("p_family")
    if not isinstance(given, list) or not 0 < len(given) <= _MOST_OF_FAMILY:
        return
    found = [_read_hypothesis(one) for one in given]
    if None not in found:
        campaign.p_family = list(dict.fromkeys(found))
        campaign.save(update_fields=["p_family"])


def _read_hypothesis(one: object) -> Hypothesis | None:
    """The comparison in the form that campaigns here use; None if it is invalid."""
    if (
        not isinstance(one, list)
        or len(one) != len(Hypothesis._fields)
        or not all(isinstance(part, str) and len(part) <= _LONGEST_NAME for part in one)
    ):
        return None
    figure, criterion, *names = one
    if criterion not in list(Criterion):
        return None
    if figure == HALO:
        return None if any(names) else Hypothesis(HALO, criterion, "")
    if figure in COMPARED and all(names) and names[0] != names[1]:
        return between(figure, criterion, names)
    is_of_one = figure in (NET, *EXPERT) and names[0] and not names[1]
    return Hypothesis(figure, criterion, names[0]) if is_of_one else None


def _about(first: Record | None) -> dict[str, object]:
    if first is None or first.problem or first.values.get(OWN) != CAMPAIGN:
        return {}
    try:
        return parts_of(first.values, "about")
    except RowProblem:
        return {}
