"""Estimate a campaign's cost and reviewing hours from earlier runs and reviews."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from django.db.models import BooleanField, Count, ExpressionWrapper, Q, Sum
from django.utils import timezone

from pipeline.models import Configuration, Run, Spending
from pipeline.services import BATCHES_DIVISOR, NEVER_BATCHED, price_on
from review.campaigns.services.runs import count_missing_runs
from review.models import Assignment, Campaign, Score
from review.sampling import EVERYBODY

# Assumed seconds per review if too few earlier scores have times.
SECONDS_AN_ITEM = 90
_ENOUGH, _NEWEST = 20, 2_000
_MILLION = 1_000_000


@dataclass(frozen=True)
class ArmEstimate:
    """The estimate for a configuration: missing runs, missing runs of the pilot, and micro-dollars per run.

    Unknown costs are None, because `unpriced` models have no price or because no run of the configuration has finished
    yet.
    """

    configuration: Configuration
    runs: int
    pilot_runs: int
    direct_each: float | None  # with direct calls
    batched_each: float | None  # with message batches, for endpoints that support them
    tokens: int | None  # mean per earlier run
    unpriced: tuple[str, ...] = ()
    is_demo: bool = False
    uses_message_batches: bool = False

    @property
    def cost_each(self) -> float | None:
        """Return micro-dollars per run in the campaign's call mode."""
        return self.batched_each if self.uses_message_batches else self.direct_each

    @property
    def cost(self) -> int | None:
        return _times(self.cost_each, self.runs)

    @property
    def pilot_cost(self) -> int | None:
        return _times(self.cost_each, self.pilot_runs)

    @property
    def direct_cost(self) -> int | None:
        return _times(self.direct_each, self.runs)

    @property
    def batched_cost(self) -> int | None:
        return _times(self.batched_each, self.runs)


@dataclass(frozen=True)
class Estimate:
    """The estimate for a campaign.

    `reviews` counts each item once per reviewer. `seconds_each` is the median of earlier reviews if `measured`,
    otherwise an assumption.
    """

    arms: Sequence[ArmEstimate]
    reviews: int
    seconds_each: float
    measured: bool
    uses_message_batches: bool

    @property
    def cost(self) -> int | None:
        """Return micro-dollars in the campaign's call mode, or None if an arm's cost is unknown."""
        return self.batched_cost if self.uses_message_batches else self.direct_cost

    @property
    def direct_cost(self) -> int | None:
        """Return micro-dollars with direct calls."""
        return _sum_known(arm.direct_cost for arm in self.arms if arm.runs)

    @property
    def batched_cost(self) -> int | None:
        """Return micro-dollars with message batches at the endpoints that support them."""
        return _sum_known(arm.batched_cost for arm in self.arms if arm.runs)

    @property
    def pilot_cost(self) -> int | None:
        """Return micro-dollars for the pilot's runs in the campaign's call mode."""
        return _sum_known(arm.pilot_cost for arm in self.arms if arm.pilot_runs)

    @property
    def runs(self) -> int:
        return sum(arm.runs for arm in self.arms)

    @property
    def pilot_runs(self) -> int:
        """Return the number of missing runs of the pilot, or 0 if all missing runs are pilot runs.

        In that case, the page needs no separate button for the pilot.
        """
        found = sum(arm.pilot_runs for arm in self.arms)
        return found if found < self.runs else 0

    @property
    def hours(self) -> float:
        return self.reviews * self.seconds_each / 3_600


def estimate(campaign: Campaign) -> Estimate:
    """Return an estimate of a campaign's remaining work. The number of queries grows only with its configurations."""
    missing, of_pilot = count_missing_runs(campaign), count_missing_runs(campaign, pilot=True)
    spent, runs = _spent_by(missing), _runs_by(missing)
    uses_message_batches = bool(campaign.batch and campaign.batch.uses_message_batches)
    arms = [
        replace(
            _estimate_arm(one, number, of_pilot[one], spent[one.pk], runs.get(one.pk, 0)),
            uses_message_batches=uses_message_batches,
        )
        for one, number in missing.items()
    ]
    seconds, measured = _seconds_an_item()
    return Estimate(
        arms=arms,
        reviews=_count_reviews(campaign, sum(missing.values())),
        seconds_each=seconds,
        measured=measured,
        uses_message_batches=uses_message_batches,
    )


def describe(expected: Estimate) -> dict[str, object]:
    """Return the estimate as JSON. Costs are in micro-dollars, or None if unknown."""
    return {
        "runs": expected.runs,
        "pilot_runs": expected.pilot_runs,
        "uses_message_batches": expected.uses_message_batches,
        "cost": expected.cost,
        "direct_cost": expected.direct_cost,
        "batched_cost": expected.batched_cost,
        "pilot_cost": expected.pilot_cost,
        "reviews": expected.reviews,
        "hours": round(expected.hours, 2),
        "configurations": [
            {
                "name": arm.configuration.name,
                "runs": arm.runs,
                "tokens_a_run": arm.tokens,
                "cost": arm.cost,
                "direct_cost": arm.direct_cost,
                "batched_cost": arm.batched_cost,
                "unpriced": list(arm.unpriced),
            }
            for arm in expected.arms
        ],
    }


def _count_reviews(campaign: Campaign, missing: int) -> int:
    """Return the number of reviews needed for existing and missing items."""
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
        # Repeats and halo checks are created after the campaign opens. This is an upper limit, because some items have
        # no refined script.
        shown_again = campaign.halo_share + campaign.repeat_share
        reviews += (items["real"] + missing) * shown_again / 100
    return round(reviews)


def _times(cost_each: float | None, runs: int) -> int | None:
    return None if cost_each is None else round(cost_each * runs)


def _sum_known(costs: Iterable[int | None]) -> int | None:
    known = list(costs)
    return None if None in known else sum(one or 0 for one in known)


def _spent_by(missing: Mapping[Configuration, int]) -> Mapping[int, list[dict[str, object]]]:
    found: dict[int, list[dict[str, object]]] = defaultdict(list)
    rows = (
        Spending.objects.filter(configuration__in=missing)
        .annotate(
            in_batch=ExpressionWrapper(
                Q(endpoint__has_batches=True) & ~Q(stage__in=NEVER_BATCHED), BooleanField()
            )
        )
        .order_by()
        .values("configuration", "endpoint", "endpoint__demo", "model", "in_batch")
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
        return ArmEstimate(configuration, missing, of_pilot, 0, 0, None, is_demo=is_demo)
    if not spent or not runs:
        return ArmEstimate(configuration, missing, of_pilot, None, None, None)
    tokens, unpriced = 0, set()
    direct = batched = 0.0
    today = timezone.now().date()
    for row in spent:
        counted = {name: int(str(row[name])) for name in _KINDS}
        tokens += sum(counted.values())
        if row["endpoint__demo"]:
            continue
        model = str(row["model"])
        price = price_on(today, endpoint=int(str(row["endpoint"])), model=model)
        if price is None:
            unpriced.add(model)
        else:
            cost = sum(counted[name] * getattr(price, name) for name in _KINDS) / _MILLION
            direct += cost
            batched += cost / BATCHES_DIVISOR if row["in_batch"] else cost
    return ArmEstimate(
        configuration,
        missing,
        of_pilot,
        None if unpriced else direct / runs,
        None if unpriced else batched / runs,
        round(tokens / runs),
        unpriced=tuple(sorted(unpriced)),
    )


_KINDS = ("input", "output", "cache_read", "cache_write")


def _seconds_an_item() -> tuple[float, bool]:
    """Return the median seconds per recent review and True, or an assumption and False."""
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
