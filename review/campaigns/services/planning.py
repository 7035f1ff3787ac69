"""The plan of a study: its aim, its assumptions, and the number of items that it needs.

`review.study.planning` calculates the sample size. The campaign stores the plan as JSON. The plan is fixed when the
main phase starts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from math import isfinite
from typing import Self, cast

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from core.audit import record
from core.errors import BadInput, NotAllowedNow
from review.campaigns.services.rules import may_revise
from review.models import Campaign
from review.study.planning import (
    MOST_ITEMS,
    Aim,
    Need,
    OutOfReach,
    plan_agreement,
    plan_effort,
    plan_paired,
    plan_share,
)

# The inputs of each aim. All are proportions except `alpha`, `width`, `reviewers` and `deff`.
ASKED: Mapping[Aim, tuple[str, ...]] = {
    Aim.SHARE: ("share", "half_width", "deff"),
    Aim.PAIRED: ("gained", "lost", "power", "deff"),
    Aim.AGREEMENT: ("incorrect", "partial", "correct", "alpha", "width", "reviewers", "deff"),
}
# The quantity that each aim targets. The curve shows this quantity by number of items.
WANTED: Mapping[Aim, str] = {
    Aim.SHARE: "half_width",
    Aim.PAIRED: "power",
    Aim.AGREEMENT: "width",
}


# Optional inputs to compute the number of reviewers: configurations per statement, reviewers per item, active minutes
# per item, and available hours per reviewer.
EFFORT = ("arms", "overlap", "minutes", "hours")


@dataclass(frozen=True, kw_only=True)
class Work:
    """The assumptions about reviewing, by name, and the resulting numbers of reviews, hours and reviewers."""

    assumed: Mapping[str, float]
    reviews: int
    hours: float
    reviewers: int


@dataclass(frozen=True, kw_only=True)
class Plan:
    """The assumptions, by name, and the required sample size. `curve` has pairs of (number of items, result).

    `work` is the reviewing effort, if the optional inputs were given.
    """

    aim: Aim
    assumed: Mapping[str, float]
    items: int
    independent: int
    curve: tuple[tuple[int, float], ...]
    work: Work | None = None

    @property
    def wanted(self) -> float:
        """Return the target: the half-width, power or width."""
        return self.assumed[WANTED[self.aim]]

    def as_json(self) -> dict[str, object]:
        """Return the JSON to store with the campaign."""
        return {
            "aim": self.aim.value,
            "assumed": dict(self.assumed),
            "items": self.items,
            "independent": self.independent,
            "curve": [list(point) for point in self.curve],
            **({"work": asdict(self.work)} if self.work else {}),
        }

    @classmethod
    def from_json(cls, kept: Mapping[str, object]) -> Self:
        """Return a plan from JSON in the format of `as_json`."""
        assumed, curve, work = kept["assumed"], kept["curve"], kept.get("work")
        assert isinstance(assumed, dict) and isinstance(curve, list)
        assert work is None or isinstance(work, dict)
        return cls(
            aim=Aim(str(kept["aim"])),
            assumed={str(name): float(value) for name, value in assumed.items()},
            items=int(str(kept["items"])),
            independent=int(str(kept["independent"])),
            curve=tuple((int(items), float(value)) for items, value in curve),
            work=Work(**work) if work else None,
        )


def plan_of(campaign: Campaign) -> Plan | None:
    """Return the campaign's plan, or None."""
    return Plan.from_json(campaign.plan) if campaign.plan else None


def read_plan(kept: object) -> Plan | None:
    """Return the plan from another installation's JSON, or None if it is invalid."""
    try:
        plan = Plan.from_json(cast(Mapping[str, object], kept))
        numbers = [*plan.assumed.values(), *(plan.work.assumed.values() if plan.work else ())]
        is_valid = plan.assumed.keys() >= set(ASKED[plan.aim]) and all(map(isfinite, numbers))
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError):
        return None
    return plan if is_valid else None


def work_out(aim: Aim, assumed: Mapping[str, float]) -> Plan:
    """Return the plan for these assumptions. The plan includes the reviewing effort if `minutes` and `hours` are given.

    Raises BadInput with the name of the field if a value is missing, the target is out of reach, or the values are
    inconsistent.
    """
    missing = next((name for name in ASKED[aim] if name not in assumed), None)
    if missing:
        raise BadInput(_("Enter a value."), field=missing)
    try:
        need = _need(aim, tuple(assumed[name] for name in ASKED[aim]))
    except OutOfReach:
        raise BadInput(
            _("This needs more than %s items. Choose a wider interval or a larger effect.")
            % f"{MOST_ITEMS:,}",
            field=WANTED[aim],
        ) from None
    return Plan(
        aim=aim,
        assumed={name: assumed[name] for name in ASKED[aim]},
        items=need.items,
        independent=need.independent,
        curve=need.curve,
        work=_work(need.items, assumed),
    )


def _work(items: int, assumed: Mapping[str, float]) -> Work | None:
    """Return the reviewing effort, or None if the minutes per item or the hours per reviewer are missing."""
    if "minutes" not in assumed or "hours" not in assumed:
        return None
    # For agreement, the number of reviewers per item is an input of the aim.
    overlap = int(assumed.get("reviewers", assumed.get("overlap", 1)))
    arms = int(assumed.get("arms", 1))
    reviews = items * arms * overlap
    effort = plan_effort(
        reviews=reviews, minutes=assumed["minutes"], hours_each=assumed["hours"], least=overlap
    )
    said = {"arms": arms, "overlap": overlap, **{key: assumed[key] for key in ("minutes", "hours")}}
    return Work(assumed=said, reviews=reviews, hours=effort.hours, reviewers=effort.reviewers)


# Cached, because the page first shows and then saves the same plan, and a simulation takes a fraction of a second.
@lru_cache(maxsize=64)
def _need(aim: Aim, values: tuple[float, ...]) -> Need:
    given = dict(zip(ASKED[aim], values, strict=True))
    if aim is Aim.SHARE:
        return plan_share(
            share=given["share"], half_width_wanted=given["half_width"], deff=given["deff"]
        )
    if aim is Aim.PAIRED:
        if given["gained"] + given["lost"] > 1:
            raise BadInput(_("The two shares together must not exceed 100%."), field="lost")
        if given["gained"] == given["lost"]:
            raise BadInput(
                _(
                    "The arms are expected to be equal, so no number of items can show a "
                    "difference."
                ),
                field="lost",
            )
        return plan_paired(
            gained=given["gained"],
            lost=given["lost"],
            power_wanted=given["power"],
            deff=given["deff"],
        )
    margins = given["incorrect"], given["partial"], given["correct"]
    if abs(sum(margins) - 1) > 0.005:
        raise BadInput(_("The three shares must add up to 100%."), field="correct")
    if sum(share > 0 for share in margins) < 2:
        raise BadInput(_("Enter a share above 0 for at least two scores."), field="correct")
    return plan_agreement(
        margins=margins,
        alpha=given["alpha"],
        width_wanted=given["width"],
        reviewers=int(given["reviewers"]),
        deff=given["deff"],
    )


@transaction.atomic
def save_plan(campaign: Campaign, plan: Plan, *, by: User) -> None:
    """Save the plan and its number of items. Raises NotAllowedNow in the main phase."""
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    if not may_revise(locked):
        raise NotAllowedNow(_("The study’s main phase has started, so its plan is fixed."))
    before = locked.planned_items
    locked.plan, locked.planned_items = plan.as_json(), plan.items
    locked.save(update_fields=["plan", "planned_items"])
    record(locked, "plan saved", by=by, items=(before or "", plan.items))
