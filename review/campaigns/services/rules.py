"""Study campaigns: made, their rules changed, who takes part; and how many reviewers an item wants."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.database import planned
from core.errors import BadInput, NotAllowedNow
from pipeline.ledger.batches import MAX_BUDGET, set_budget
from pipeline.models import Batch, Configuration
from review.models import Campaign, Case, Item, Member, Rubric

MAX_NAME = 150
MAX_RUBRIC = 100_000
# Training and gold items are for everybody: more places than there will ever be reviewers.
EVERYBODY = 32_767

Preset = Literal["standard", "rigorous"]
# STUDY, Threats to validity: the preset *rigorous* sets these shares, in percent.
RIGOROUS = {"sham_share": 20, "halo_share": 20, "repeat_share": 5}


@dataclass(frozen=True, kw_only=True)
class Rules:
    """How a campaign is reviewed; what is left out keeps the careful default."""

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
    pilot_size: int | None = None
    edit_minutes: int = 60
    sham_share: int = 0
    halo_share: int = 0
    repeat_share: int = 0
    planned_items: int | None = None
    primary_figure: str = ""
    budget: int | None = None  # micro-dollars


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
    """A study with its batch, rubric and people, not yet open. Raises BadInput for a name that is none or taken."""
    rules = rules or Rules()
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or "\0" in name:
        raise BadInput(
            _("Give the campaign a name of at most %s characters.") % MAX_NAME, field="name"
        )
    if Campaign.objects.filter(name=name).exists():
        raise BadInput(_("There is a campaign named “%s” already.") % name, field="name")
    _check_rules(rules)
    campaign = Campaign.objects.create(
        name=name,
        kind=Campaign.Kind.STUDY,
        seed=secrets.randbits(31),
        created_by=by,
        cloned_from=cloned_from,
        batch=Batch.objects.create(name=name, budget=rules.budget, created_by=by),
        **_columns(rules),
    )
    campaign.configurations.set(configurations)
    Rubric.objects.create(campaign=campaign, number=1, text=rules.rubric, created_by=by)
    for reviewer in reviewers:
        add_member(campaign, reviewer, by=by)
    record(campaign, "created", by=by)
    return campaign


@transaction.atomic
def change_rules(campaign: Campaign, rules: Rules, *, by: User) -> None:
    """Change how a campaign is reviewed. What was scored under earlier rules keeps what was recorded with it.

    Raises NotAllowedNow once it is open, for all but what hurts no score: description, limit, edit window, who may,
    budget.
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
    if locked.state != Campaign.State.SETUP and changed.keys() - harmless:
        raise NotAllowedNow(
            _("The campaign has been opened: its rules stay as they are. Clone it to change them.")
        )
    if locked.batch and locked.batch.budget != rules.budget:
        set_budget(locked.batch, budget=rules.budget, by=by)
    for name, value in wanted.items():
        setattr(locked, name, value)
    locked.save(update_fields=list(wanted))
    write_rubric(locked, rules.rubric, by=by)
    if changed:
        record(locked, "rules changed", by=by, **changed)


@transaction.atomic
def write_rubric(campaign: Campaign, text: str, *, by: User | None) -> Rubric:
    """A new version of the rubric, or the present one where nothing changed; scores keep the one they name."""
    if len(text) > MAX_RUBRIC or "\0" in text:
        raise BadInput(_("The rubric is too long to be kept, or no text."), field="rubric")
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


# --- People -----------------------------------------------------------------------------------------------------


@transaction.atomic
def add_member(
    campaign: Campaign, user: User, *, by: User | None, limit: int | None = None
) -> Member:
    """Let a person review in the campaign, in an order of their own; a second time changes the limit only."""
    member, created = Member.objects.get_or_create(
        campaign=campaign, user=user, defaults={"seed": seed_of(campaign, user), "limit": limit}
    )
    if created:
        record(campaign, "reviewer added", by=by, reviewer=("", user.username))
    elif member.limit != limit:
        record(campaign, "limit changed", by=by, limit=(member.limit, limit))
        member.limit = limit
        member.save(update_fields=["limit"])
    return member


@transaction.atomic
def pause_member(member: Member, *, paused: bool, by: User) -> None:
    """Hand this person no more items, or again; what they hold stays theirs until its lease ends."""
    at = timezone.now() if paused else None
    changed = Member.objects.filter(pk=member.pk, paused_at__isnull=paused).update(paused_at=at)
    if changed:
        event = "reviewer paused" if paused else "reviewer taken back"
        record(member.campaign, event, by=by, reviewer=("", member.user.username))


def seed_of(campaign: Campaign, user: User) -> int:
    """31 bits from the campaign's seed and the person: the same every time, and different for each person."""
    digest = hashlib.sha256(f"{campaign.seed}:{user.pk}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


def shuffle_of(campaign: Campaign, external_id: str) -> int:
    """31 bits from the campaign's seed and the case: where an item stands in the random order."""
    digest = hashlib.sha256(f"{campaign.seed}:{external_id}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1


# --- Helpers ----------------------------------------------------------------------------------------------------


def overlap_of(campaign: Campaign, *, shuffle: int, purpose: str = Case.Purpose.REAL) -> int:
    """How many reviewers an item wants: a share of them, chosen by the random order, more than the rest."""
    if purpose in (Case.Purpose.GOLD, Case.Purpose.TRAINING):
        return EVERYBODY
    if campaign.extra_overlap and is_in_share(shuffle, campaign.extra_share, "overlap"):
        return campaign.extra_overlap
    return campaign.overlap


def is_in_share(shuffle: int, percent: int, what: str) -> bool:
    """Whether an item belongs to a random share; shares for different ends are drawn independently."""
    digest = hashlib.sha256(f"{what}:{shuffle}".encode()).digest()
    return int.from_bytes(digest[:4], "big") % 10_000 < percent * 100


_DUE = "INSERT INTO review_tallydue (item_id, campaign_id) VALUES (%s, %s)"
# The row is counted on as it is by then: this happens at the end of every review.
_COUNT_DONE = """
UPDATE review_item SET done = done + %s,
    state = CASE
        WHEN state = 'open' AND done + %s >= overlap THEN 'closed'
        WHEN state = 'closed' AND done + %s < overlap THEN 'open'
        ELSE state END,
    closed_at = CASE
        WHEN state = 'open' AND done + %s >= overlap THEN %s
        WHEN done + %s < overlap THEN NULL
        ELSE closed_at END
WHERE id = %s
"""


def count_done(item: Item, *, change: int) -> None:
    """Note that one reviewer more, or less, is through with an item, and close or open it by that.

    What it brings to the figures is due to be counted anew.
    """
    planned.carry_out(*counting(item, change=change))


def counting(item: Item, *, change: int = 0) -> list[planned.Statement]:
    """The statements of `count_done`; without a change only what is due to be counted anew."""
    statements = [planned.Statement(_DUE, [item.pk, item.campaign_id])]
    if change:
        values = [change, change, change, change, timezone.now(), change, item.pk]
        statements.append(planned.Statement(_COUNT_DONE, values))
    return statements


def _columns(rules: Rules) -> dict[str, object]:
    return {
        name: getattr(rules, name)
        for name in rules.__dataclass_fields__
        if name not in ("rubric", "budget")
    }


def _check_rules(rules: Rules) -> None:
    if rules.order not in Campaign.Order.values:
        raise BadInput(_("There is no such order."), field="order")
    for name in ("overlap", "extra_overlap", "limit_each", "pilot_size", "planned_items"):
        value = getattr(rules, name)
        if value is not None and not 1 <= value <= 1_000_000:
            raise BadInput(_("Give a whole number from 1 on."), field=name)
    if max(rules.overlap, rules.extra_overlap or 0) > 100:
        raise BadInput(_("At most 100 reviewers for an item."), field="overlap")
    if rules.budget is not None and not 0 <= rules.budget <= MAX_BUDGET:
        raise BadInput(_("A budget is a sum of money, 0 or more."), field="budget")
    for name in ("extra_share", "sham_share", "halo_share", "repeat_share"):
        if not 0 <= getattr(rules, name) <= 100:
            raise BadInput(_("A share is 0 to 100 percent."), field=name)
