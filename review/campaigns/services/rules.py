"""Create studies with their rules, change the rules, and version the rubric."""

from __future__ import annotations

import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.database.advisory_lock import lock_name
from core.errors import BadInput, NotAllowedNow
from pipeline.message_batches.services import use_message_batches
from pipeline.models import Batch, Configuration
from pipeline.scheduling.batches import MAX_BUDGET, set_budget
from review.counting.tallies import note_due
from review.models import Campaign, Case, Rubric, Score
from review.queue.members import add_member
from review.study import Criterion
from review.study.compare import COMPARED

MAX_NAME = 150
MAX_RUBRIC = 100_000

Preset = Literal["standard", "rigorous"]
# The percentages of the `rigorous` preset. See "Threats to validity" in STUDY.
RIGOROUS = {"sham_share": 20, "halo_share": 20, "repeat_share": 5}


# Rules that are not stored in the campaign's own row.
OF_THE_BATCH = frozenset({"rubric", "budget", "uses_message_batches"})


@dataclass(frozen=True, kw_only=True)
class Rules:
    """The rules of a study. By default, all data that could bias reviewers is hidden."""

    description: str = ""
    rubric: str = ""
    overlap: int = 1
    extra_overlap: int | None = None
    extra_share: int = 0
    order: str = Campaign.Order.RANDOM
    hides_verdict: bool = True
    hides_models: bool = True
    hides_reviewers: bool = True
    hides_execution: bool = True
    hides_reference: bool = True
    open_to_all: bool = False
    limit_each: int | None = None
    prepares_all: bool = True
    # True if configurations that can show examples do so in this study. See `catalog.retrieval.examples`.
    uses_examples: bool = False
    pilot_size: int | None = None
    pilot_counts: bool = False
    edit_minutes: int = 60
    sham_share: int = 0
    halo_share: int = 0
    repeat_share: int = 0
    planned_items: int | None = None
    # The primary comparison. Its p value is not adjusted. A study with one arm has no pair of configurations.
    primary_figure: str = ""
    primary_criterion: str = ""
    primary_first: Configuration | None = None
    primary_second: Configuration | None = None
    budget: int | None = None  # micro-dollars
    # Message batches halve the price, but replies may take a day. The endpoint must support message batches.
    uses_message_batches: bool = False


@transaction.atomic
def create_campaign(
    name: str,
    *,
    by: User | None,
    rules: Rules | None = None,
    configurations: Iterable[Configuration] = (),
    reviewers: Iterable[User] = (),
    cloned_from: Campaign | None = None,
) -> Campaign:
    """Create a study with its batch, rubric and reviewers.

    Raises BadInput if the name is invalid or taken, or if a rule is invalid.
    """
    rules = rules or Rules()
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or "\0" in name:
        raise BadInput(_("Enter a name of up to %s characters.") % MAX_NAME, field="name")
    lock_name(f"campaign {name}")
    if Campaign.objects.filter(name=name).exists():
        raise BadInput(_("A study named “%s” already exists.") % name, field="name")
    _check_rules(rules)
    campaign = Campaign.objects.create(
        name=name,
        kind=Campaign.Kind.STUDY,
        seed=secrets.randbits(31),
        created_by=by,
        cloned_from=cloned_from,
        batch=Batch.objects.create(
            name=name,
            budget=rules.budget,
            uses_message_batches=rules.uses_message_batches,
            created_by=by,
        ),
        **_columns(rules),
    )
    if rules.primary_figure:
        note_primary(campaign)
    campaign.configurations.set(configurations)
    Rubric.objects.create(campaign=campaign, number=1, text=rules.rubric, created_by=by)
    for reviewer in reviewers:
        add_member(campaign, reviewer, by=by)
    record(campaign, "created", by=by)
    return campaign


def hold_items(campaign: Campaign) -> None:
    """Lock the campaign against concurrent imports and additions of items until the transaction ends."""
    lock_name(f"items of campaign {campaign.pk}")


@transaction.atomic
def change_rules(campaign: Campaign, rules: Rules, *, by: User) -> None:
    """Change the rules of a study. Existing scores are not changed.

    In the main phase, only rules that affect no scores can change, such as the description, limit, edit window, access
    and budget. Other changes raise NotAllowedNow.
    """
    _check_rules(rules)
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    wanted = _columns(rules)
    changed = {
        name: (getattr(locked, name), value)
        for name, value in wanted.items()
        if getattr(locked, name) != value
    }
    harmless = {"description", "limit_each", "edit_minutes", "pilot_size", "open_to_all"}
    if not may_revise(locked) and changed.keys() - harmless:
        raise NotAllowedNow(
            _(
                "The study’s main phase has started, so its rules are fixed. Clone the study to change them."
            )
        )
    if locked.batch and locked.batch.budget != rules.budget:
        set_budget(locked.batch, budget=rules.budget, by=by)
    if locked.batch:
        use_message_batches(locked.batch, uses=rules.uses_message_batches, by=by)
    for name, value in wanted.items():
        setattr(locked, name, value)
    locked.save(update_fields=list(wanted))
    if changed.keys() & _PRIMARY:
        note_primary(locked)
    if "pilot_counts" in changed:
        note_due(locked, locked.items.filter(pilot=True).values_list("pk", flat=True))
    write_rubric(locked, rules.rubric, by=by)
    if changed:
        record(locked, "rules changed", by=by, **changed)


_PRIMARY = {"primary_figure", "primary_criterion", "primary_first", "primary_second"}


def note_primary(campaign: Campaign) -> None:
    """Record when the primary outcome was chosen, and the numbers of scores and report views before this choice."""
    campaign.primary_chosen = {
        "at": timezone.now().isoformat(timespec="seconds"),
        "scores": Score.objects.filter(item__campaign=campaign, current=True).count(),
        "views": campaign.looks.count(),
    }
    campaign.save(update_fields=["primary_chosen"])


def may_revise(campaign: Campaign) -> bool:
    """Return whether the plan and the rules may still change.

    Changes are possible until the main phase starts, even during and after a pilot.
    """
    if campaign.state == Campaign.State.PAUSED:
        return is_in_pilot(campaign)
    return campaign.state in (Campaign.State.SETUP, Campaign.State.PILOT)


def is_in_pilot(campaign: Campaign) -> bool:
    """Return whether the campaign has a pilot and has not assigned any real item outside the pilot."""
    beyond = campaign.items.filter(pilot=False, case__purpose=Case.Purpose.REAL)
    return (
        campaign.items.filter(pilot=True).exists()
        and not beyond.filter(assignments__isnull=False).exists()
    )


@transaction.atomic
def write_rubric(campaign: Campaign, text: str, *, by: User | None) -> Rubric:
    """Return a new version of the rubric, or the current version if the text is unchanged."""
    if len(text) > MAX_RUBRIC or "\0" in text:
        raise BadInput(_("The rubric is too long or contains invalid characters."), field="rubric")
    Campaign.objects.select_for_update().get(pk=campaign.pk)
    newest = campaign.rubrics.order_by("-number").first()
    if newest and newest.text == text:
        return newest
    rubric = Rubric.objects.create(
        campaign=campaign, number=newest.number + 1 if newest else 1, text=text, created_by=by
    )
    if newest:
        record(campaign, "rubric changed", by=by, rubric=(newest.number, rubric.number))
    return rubric


def _columns(rules: Rules) -> dict[str, object]:
    return {
        name: getattr(rules, name)
        for name in rules.__dataclass_fields__
        if name not in OF_THE_BATCH
    }


def _check_rules(rules: Rules) -> None:
    if rules.order not in Campaign.Order.values:
        raise BadInput(_("Unknown order."), field="order")
    for name in ("overlap", "extra_overlap", "limit_each", "pilot_size", "planned_items"):
        value = getattr(rules, name)
        if value is not None and not 1 <= value <= 1_000_000:
            raise BadInput(_("Enter a whole number of at least 1."), field=name)
    if max(rules.overlap, rules.extra_overlap or 0) > 100:
        raise BadInput(_("An item can have at most 100 reviewers."), field="overlap")
    _check_primary(rules)
    if rules.budget is not None and not 0 <= rules.budget <= MAX_BUDGET:
        raise BadInput(_("The budget must be 0 or more."), field="budget")
    for name in ("extra_share", "sham_share", "halo_share", "repeat_share"):
        if not 0 <= getattr(rules, name) <= 100:
            raise BadInput(_("The share must be between 0 and 100 percent."), field=name)


def _check_primary(rules: Rules) -> None:
    """Raise BadInput if the primary comparison is incomplete or its figure can't be compared."""
    first, second = rules.primary_first, rules.primary_second
    if rules.primary_criterion and rules.primary_criterion not in list(Criterion):
        raise BadInput(_("The criterion must be strict or partial."), field="primary_criterion")
    if first is None and second is None:
        return
    if first is None or second is None:
        raise BadInput(_("Choose two configurations to compare."), field="primary_second")
    if first == second:
        raise BadInput(_("A configuration can't be compared with itself."), field="primary_second")
    if rules.primary_figure not in COMPARED:
        raise BadInput(
            _("This figure can't be compared between configurations."), field="primary_figure"
        )
    if not rules.primary_criterion:
        raise BadInput(_("Choose a criterion."), field="primary_criterion")
