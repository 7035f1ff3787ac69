"""Estimates a campaign's cost and reviewing hours from earlier runs and reviews."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from django.db.models import Count, Q, Sum
from django.utils import timezone

from pipeline.models import Configuration, Price, Run, Spending
from review.campaigns.services.runs import count_missing_runs
from review.models import Assignment, Campaign, Score
from review.sampling import EVERYBODY

# Without earlier scores with their times, an item is taken to cost a reviewer so many seconds.
SECONDS_AN_ITEM = 90
_ENOUGH, _NEWEST = 20, 2_000
_MILLION = 1_000_000


@dataclass(frozen=True)
class ArmEstimate:
    """One configuration: runs still to be made, those of the pilot among them, and what one costs in micro-dollars.

    `cost_each` is None where it is not known: `unpriced` names the models without a price; else nothing was run
    under the configuration yet.
    """

    configuration: Configuration
    runs: int
    pilot_runs: int
    cost_each: float | None
    tokens: int | None  # of one run, of those before
    unpriced: tuple[str, ...] = ()
    is_demo: bool = False

    @property
    def cost(self) -> int | None:
        return None if self.cost_each is None else round(self.cost_each * self.runs)

    @property
    def pilot_cost(self) -> int | None:
        return None if self.cost_each is None else round(self.cost_each * self.pilot_runs)


@dataclass(frozen=True)
class Estimate:
    """`reviews` are items times reviewers; `measured` says whether the seconds are a median or a guess."""

    arms: Sequence[ArmEstimate]
    reviews: int
    seconds_each: float
    measured: bool

    @property
    def cost(self) -> int | None:
        """Micro-dollars, or None where one of the arms is not known."""
        return _sum_known(arm.cost for arm in self.arms if arm.runs)

    @property
    def pilot_cost(self) -> int | None:
        """The same for the runs of the pilot."""
        return _sum_known(arm.pilot_cost for arm in self.arms if arm.pilot_runs)

    @property
    def runs(self) -> int:
        return sum(arm.runs for arm in self.arms)

    @property
    def pilot_runs(self) -> int:
        """Runs of the pilot still to be made; 0 where they are all that is left, and need no button of their own."""
        found = sum(arm.pilot_runs for arm in self.arms)
        return found if found < self.runs else 0

    @property
    def hours(self) -> float:
        return self.reviews * self.seconds_each / 3_600


def estimate(campaign: Campaign) -> Estimate:
    """What is still to come of a campaign, in a number of queries that grows with its configurations alone."""
    missing, of_pilot = count_missing_runs(campaign), count_missing_runs(campaign, pilot=True)
    spent, runs = _spent_by(missing), _runs_by(missing)
    arms = [
        _estimate_arm(one, number, of_pilot[one], spent[one.pk], runs.get(one.pk, 0))
        for one, number in missing.items()
    ]
    seconds, measured = _seconds_an_item()
    return Estimate(
        arms=arms,
        reviews=_count_reviews(campaign, sum(missing.values())),
        seconds_each=seconds,
        measured=measured,
    )


def _count_reviews(campaign: Campaign, missing: int) -> int:
    """Places of the items there are, and of those still to be made; gold and training are for each member."""
    items = campaign.items.aggregate(
        places=Sum("places", filter=~Q(overlap=EVERYBODY)),
        shared=Count("pk", filter=Q(overlap=EVERYBODY)),
        real=Count("pk", filter=Q(again="", case__purpose="real")),
    )
    mean = float(campaign.overlap)
    if campaign.extra_overlap:
        mean += (campaign.extra_overlap - campaign.overlap) * campaign.extra_share / 100
    reviews = (items["places"] or 0) + missing * mean
    if items["shared"]:
        reviews += items["shared"] * campaign.members.count()
    if campaign.state == Campaign.State.SETUP:
        # Made once it opens, at most so many: not every item has a refined script.
        shown_again = campaign.halo_share + campaign.repeat_share
        reviews += (items["real"] + missing) * shown_again / 100
    return round(reviews)


def _sum_known(costs: Iterable[int | None]) -> int | None:
    known = list(costs)
    return None if None in known else sum(one or 0 for one in known)


def _spent_by(missing: Mapping[Configuration, int]) -> Mapping[int, list[dict[str, object]]]:
    found: dict[int, list[dict[str, object]]] = defaultdict(list)
    rows = (
        Spending.objects.filter(configuration__in=missing)
        .order_by()
        .values("configuration", "endpoint", "endpoint__demo", "model")
        .annotate(
            input=Sum("input_tokens"),
            output=Sum("output_tokens"),
            cache_read=Sum("cache_read_tokens"),
            cache_write=Sum("cache_write_tokens"),
        )
    )
    for row in rows:
        found[row["configuration"]].append(dict(row))
    return found


def _runs_by(missing: Mapping[Configuration, int]) -> dict[int, int]:
    return dict(
        Run.objects.filter(configuration__in=missing, finished_at__isnull=False)
        .exclude(origin=Run.Origin.IMPORTED)
        .order_by()
        .values_list("configuration")
        .annotate(count=Count("pk"))
    )


def _estimate_arm(
    configuration: Configuration,
    missing: int,
    of_pilot: int,
    spent: Sequence[Mapping[str, object]],
    runs: int,
) -> ArmEstimate:
    roles = list(configuration.roles.all())
    is_demo = bool(roles) and all(role.endpoint.demo for role in roles)
    if is_demo or not missing:
        return ArmEstimate(configuration, missing, of_pilot, 0, None, is_demo=is_demo)
    if not spent or not runs:
        return ArmEstimate(configuration, missing, of_pilot, None, None)
    tokens, unpriced = 0, []
    cost = 0.0
    for row in spent:
        counted = {name: int(str(row[name])) for name in _KINDS}
        tokens += sum(counted.values())
        if row["endpoint__demo"]:
            continue
        price = _price_of(int(str(row["endpoint"])), str(row["model"]))
        if price is None:
            unpriced.append(str(row["model"]))
        else:
            cost += sum(counted[name] * getattr(price, name) for name in _KINDS) / _MILLION
    return ArmEstimate(
        configuration,
        missing,
        of_pilot,
        None if unpriced else cost / runs,
        round(tokens / runs),
        unpriced=tuple(unpriced),
    )


_KINDS = ("input", "output", "cache_read", "cache_write")


def _price_of(endpoint: int, model: str) -> Price | None:
    return (
        Price.objects.filter(endpoint=endpoint, model=model, since__lte=timezone.now().date())
        .order_by("-since")
        .first()
    )


def _seconds_an_item() -> tuple[float, bool]:
    """The median of what reviewers needed for an item of late, all its stages together."""
    newest = (
        Score.objects.filter(
            active_seconds__gt=0, assignment__state=Assignment.State.SUBMITTED, imported=False
        )
        .order_by("-pk")
        .values_list("assignment", "active_seconds")[:_NEWEST]
    )
    seconds: dict[int, float] = defaultdict(float)
    for assignment, active in newest:
        if assignment and active:
            seconds[assignment] += active
    if len(seconds) < _ENOUGH:
        return SECONDS_AN_ITEM, False
    return median(seconds.values()), True
