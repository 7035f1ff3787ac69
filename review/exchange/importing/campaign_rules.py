"""Read a campaign's rules from its export, for a campaign that an import creates.

Without these rules, an imported study would have different figures. For example, hidden verdicts affect which scores
count, and the p value of the primary comparison is not adjusted.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from django.db import models

from core.files.records import Record
from pipeline.models import Configuration
from review.campaigns.services.planning import read_plan
from review.campaigns.services.rules import OF_THE_BATCH, Rules
from review.exchange.importing.rubrics import CAMPAIGN
from review.exchange.rows.item_rows import MOST_CONTEXT
from review.exchange.rows.values import (
    RowProblem,
    choice_of,
    count_of,
    flag_of,
    moment_of,
    name_of,
    parts_of,
    text_of,
)
from review.exchange.source import OWN
from review.models import Campaign
from review.study import FIGURES, Criterion
from review.study.compare import COMPARED
from review.study.family import EXPERT, HALO, NET, Hypothesis, between

_MOST = 1_000_000
_MOST_OF_FAMILY = 10_000
_MOST_SCORES = 1_000_000_000
_COUNTED = ("scores", "views")
_LONGEST_NAME = 80


def read_rules(first: Record | None) -> Rules:
    """Return the rules of the exported campaign, or the default rules if the file has no valid rules."""
    about = _about(first)
    try:
        return Rules(
            **{
                name: _read_rule(about, name)
                for name in _RULES
                if about.get(name) not in (None, "")
            }
        )
    except RowProblem:
        return Rules()


# The rules to read. Comparisons are set later, when their configurations exist. The budget paid for runs in the
# exporting installation.
_RULES = (
    {one.name for one in fields(Rules)}
    - OF_THE_BATCH
    - {*("primary_criterion", "primary_first", "primary_second")}
)


def _read_rule(about: dict[str, object], name: str) -> Any:
    field = Campaign._meta.get_field(name)
    assert isinstance(field, models.Field)
    if isinstance(field, models.BooleanField):
        return flag_of(about, name, default=field.default)
    if isinstance(field, models.IntegerField):
        most = 100 if name.endswith(("_share", "overlap")) else _MOST
        return count_of(about, name, least=int(field.null or name == "overlap"), most=most)
    if name == "primary_figure":
        return choice_of(about, name, tuple(one.name for one in FIGURES))
    if field.choices:
        return choice_of(about, name, [value for value, _label in field.choices])
    return text_of(about, name, most=MOST_CONTEXT)


def name_primary(campaign: Campaign, first: Record | None) -> None:
    """Set the exported primary comparison, unless one of its configurations does not exist."""
    about = _about(first)
    try:
        criterion = choice_of(about, "primary_criterion", tuple(one.value for one in Criterion))
        names = [
            name_of(about, name, most=_LONGEST_NAME) for name in ("primary_first", "primary_second")
        ]
    except RowProblem:
        return
    if criterion and not any(names):
        # A study with a single configuration has a primary criterion without a pair of configurations.
        campaign.primary_criterion = criterion
        campaign.save(update_fields=["primary_criterion"])
        return
    found = {one.name: one for one in Configuration.objects.filter(name__in=names)}
    if not criterion or len(found) != 2 or campaign.primary_figure not in COMPARED:
        return
    campaign.primary_criterion = criterion
    campaign.primary_first, campaign.primary_second = found[names[0]], found[names[1]]
    campaign.save(update_fields=["primary_criterion", "primary_first", "primary_second"])


def keep_plan(campaign: Campaign, first: Record | None) -> None:
    """Set the exported seed, plan and family of p values. Invalid values are ignored."""
    about = _about(first)
    seed, plan, given = about.get("seed"), read_plan(about.get("plan")), about.get("p_family")
    if type(seed) is int and 0 <= seed < 2**31:
        campaign.seed = seed
    if plan is not None:
        campaign.plan = plan.as_json()
    if isinstance(given, list) and 0 < len(given) <= _MOST_OF_FAMILY:
        found = [_read_hypothesis(one) for one in given]
        if None not in found:
            campaign.p_family = list(dict.fromkeys(found))
    campaign.save(update_fields=["seed", "plan", "p_family"])


def keep_choice(campaign: Campaign, first: Record | None) -> None:
    """Set `primary_chosen` from the export, or to None. The import does not count as choosing the outcome."""
    try:
        given = parts_of(_about(first), "primary_chosen")
        at = moment_of(given, "at")
        counts = {name: count_of(given, name, least=0, most=_MOST_SCORES) for name in _COUNTED}
    except RowProblem:
        at, counts = None, {}
    chosen = {"at": at.isoformat(timespec="seconds"), **counts} if at else None
    campaign.primary_chosen = None if chosen is None or None in chosen.values() else chosen
    campaign.save(update_fields=["primary_chosen"])


def _read_hypothesis(one: object) -> Hypothesis | None:
    """Return the exported hypothesis, or None if it is invalid."""
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
