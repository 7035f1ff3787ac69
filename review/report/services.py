"""The report of a study, computed from stored tallies and never from individual items.

A report is a JSON document with the keys of `study_report --json`. `details` contains the page's other data, including
definitions, so that later versions can show old snapshots.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from json import dumps
from typing import Any

from django.contrib.auth.models import User
from django.contrib.postgres.aggregates import BoolOr
from django.core.cache import cache
from django.db.models import Count, Sum
from django.utils import timezone

from pipeline.models import Attempt, Configuration, Spending
from review.campaigns.dashboard import count_disputed, count_planned
from review.counting.counts import Counts, join_stages, read_counts
from review.counting.first_quarter import NOT_WORKED_OUT
from review.counting.tallies import count_due, estimate_due
from review.counting.whole_statements import read_statements
from review.models import Campaign, Item
from review.report.kept_parts import LARGE_STUDY, Kept, read_part, state_of_counts
from review.report.parts.configurations import (
    compare_two,
    describe_arm,
    describe_readings,
    describe_without_first_quarter,
    list_not_blind,
)
from review.report.parts.execution import EXECUTED, describe_execution, tabulate_outcomes
from review.report.parts.p_values import are_shown, settle_p_values
from review.report.threats.counts import report_threats
from review.report.threats.origin import describe_pilot
from review.report.threats.shown_again import compare_halo_checks
from review.study import FIGURES, ArmCounts, Criterion, Reading, Stage, StageCounts, study_report
from review.study.agreement import LENIENCY_TEXT, MOST_ITEMS_OF_A_MEAN
from review.study.agreement import TEXT as AGREEMENT_TEXT
from review.study.compare import TEXT as COMPARISON_TEXT
from review.study.definitions import BOUNDS_TEXT, INTERVAL_TEXT, OPEN_TEXT, objects_of
from review.study.execution import ACCURACY_TEXT, CONFUSION_TEXT, INTERCODE_TEXT, REASONS_TEXT
from review.study.gain import GAIN_TEXT
from review.study.tables import (
    CARD_TEXT,
    EXPERT_TEXT,
    LENGTH_TEXT,
    RETRIEVED_TEXT,
    SKIPPED_TEXT,
)

Document = dict[str, object]
_Stages = Mapping[Stage, StageCounts]

# A page request counts at most this many due items. The background worker counts the rest.
MOST_DUE = 1_000
# Recompute an unchanged report once a minute, because users and Configurations may have been renamed.
KEPT_SECONDS = 60
# In a large study, computing a report takes 250 ms. While scores arrive, pages and the API therefore reuse a report for
# this many seconds.
RECENT_SECONDS = 15
TEXTS = {
    "agreement": AGREEMENT_TEXT,
    "assessor": CARD_TEXT,
    "bounds": BOUNDS_TEXT,
    "comparison": COMPARISON_TEXT,
    "execution": ACCURACY_TEXT,
    "execution_confusion": CONFUSION_TEXT,
    "execution_reasons": REASONS_TEXT,
    "expert": EXPERT_TEXT,
    "gain": GAIN_TEXT,
    "intercode": INTERCODE_TEXT,
    "intervals": INTERVAL_TEXT,
    "lengths": LENGTH_TEXT,
    "open": OPEN_TEXT,
    "retrieved": RETRIEVED_TEXT,
    "leniency": LENIENCY_TEXT,
    "skipped": SKIPPED_TEXT,
}


def make_document(campaign: Campaign) -> Document:
    """Count all due items and return the document that `study_report --json` prints.

    The document has `not_blind` if the campaign shows verdicts. Intervals for pairs and leniency are included,
    regardless of the number of reviewers.
    """
    count_due(campaign)
    document, details = _work_out(campaign, every=True, exact=True)
    criteria = [one.value for one in Criterion]
    arms: list[Any] = details["arms"]  # type: ignore[assignment]
    document = document | {
        "comparisons": details["comparisons"],
        "p_values": details["p_values"],
        "gain": {arm["name"]: {one: arm[one]["gain"] for one in criteria} for arm in arms},
        "sensitivity": {key: details[key] for key in ("readings", "readings_missing", "not_blind")},
        "threats": report_threats(campaign),
    }
    return document if campaign.hides_verdict else document | {"not_blind": True}


def make_report(campaign: Campaign, *, exact: bool = False) -> Document:
    """Return the complete current report. `details.due` is the number of items that are not counted yet.

    In a large study, the sandbox results are from the last background update, unless `exact` is set.
    """
    count_due(campaign, most=MOST_DUE)
    key = f"report:{campaign.pk}:{exact}:{_rules_of(campaign)}:{state_of_counts(campaign)}"
    found: tuple[Document, Document] | None = cache.get(key)
    if found is None:
        found = _work_out(campaign, exact=exact)
        cache.set(key, found, KEPT_SECONDS)
    document, details = found
    return {
        **document,
        "campaign": campaign.name,
        "details": {
            **details,
            "at": timezone.now().isoformat(timespec="seconds"),
            "due": estimate_due(campaign),
            "withdrawn": campaign.items.filter(state=Item.State.WITHDRAWN).count(),
            "planned_items": campaign.planned_items,
            # Imported scores existed before the plan and do not count toward it.
            "planned_done": count_planned(campaign),
            "disputed": count_disputed(campaign),
            "primary_figure": campaign.primary_figure,
            "primary_chosen": campaign.primary_chosen,
            "pilot": describe_pilot(campaign),
            "is_blind": campaign.hides_verdict,
            "costs": _sum_costs(campaign),
        },
    }


def recent_report(campaign: Campaign) -> Document:
    """Return the current report. In a large study, the report can be up to 15 seconds old.

    `details.at` is the time of the computation. `details.kept_seconds` is the time for which the report is reused, or 0
    if it is never reused.
    """
    found: Document | None = cache.get(_recent_key(campaign))
    return renew_report(campaign) if found is None else found


def renew_report(campaign: Campaign) -> Document:
    """Compute and return the report. In a large study, cache it for `recent_report`."""
    report = make_report(campaign)
    details: Document = report["details"]  # type: ignore[assignment]
    items = sum(arm["items"]["all"] for arm in details["arms"])  # type: ignore[attr-defined]
    is_large = items >= LARGE_STUDY
    details["kept_seconds"] = RECENT_SECONDS if is_large else 0
    if is_large:
        cache.set(_recent_key(campaign), report, RECENT_SECONDS)
    return report


def _recent_key(campaign: Campaign) -> str:
    return f"recent-report:{campaign.pk}:{_rules_of(campaign)}"


def make_live_report(live: Campaign) -> Document:
    """Return the report of the review queue: sandbox results compared with experts, by Configuration."""
    execution = describe_execution(live, Kept(tabulate_outcomes(live)), [])
    arms = (
        live.items.filter(state=Item.State.CLOSED)
        .values_list("configuration__name")
        .order_by("configuration__name")
        .annotate(demo=BoolOr("run__demo"))
    )
    return {
        "execution": execution,
        "details": {
            "texts": TEXTS,
            "is_blind": live.hides_verdict,
            "arms": [{"name": name, "demo": demo} for name, demo in arms],
        },
    }


def _rules_of(campaign: Campaign) -> str:
    """Return a cache key for the state and the p value settings, which also affect the report."""
    return "-".join(
        str(one)
        for one in (
            campaign.state,
            campaign.primary_figure,
            campaign.primary_criterion,
            campaign.primary_first_id,
            campaign.primary_second_id,
            # None means that no family was fixed. An empty list is a fixed family without hypotheses.
            sha256(dumps(campaign.p_family).encode()).hexdigest(),
        )
    )


def _work_out(
    campaign: Campaign, *, every: bool = False, exact: bool = False
) -> tuple[Document, Document]:
    """Return those parts of the document and its details that depend only on tallies and sandbox results."""
    counts = {key: one for key, one in read_counts(campaign, most_due=0).items() if one.items}
    arms = _configurations(counts)
    executed = Kept(tabulate_outcomes(campaign)) if exact else read_part(campaign, EXECUTED)
    execution = describe_execution(campaign, executed, arms)
    stages: _Stages = join_stages(counts.values())
    by_arm: Mapping[int, _Stages] = {
        arm.pk: one.stages() if len(arms) > 1 else stages for arm, one in arms
    }
    if any(one.has_mean_over_pairs() for one in stages.values()):
        stages, by_arm = _add_statements(campaign, counts, stages, by_arm)
    document = study_report(
        campaign.name,
        [
            ArmCounts(
                name=arm.name,
                patterns=one.items,
                clusters=one.clusters,
                stages=by_arm[arm.pk],
                is_demo=one.sums["demo"] > 0,
            )
            for arm, one in arms
        ],
        stages,
        names=_name_reviewers(stages),
        every=every,
    )
    readings: dict[str, Document] = {}
    for arm, one in arms:
        for name, figures in describe_readings(one).items():
            readings.setdefault(name, {})[arm.name] = figures
    without = describe_without_first_quarter(campaign, arms)
    if without:
        readings[Reading.WITHOUT_FIRST_QUARTER.value] = without
    details: Document = {
        "figures": [{"name": one.name, "label": one.label, "text": one.text} for one in FIGURES],
        "texts": TEXTS,
        "arms": [describe_arm(arm, one) for arm, one in arms],
        "comparisons": [
            compare_two(campaign, arm, other, one.joint[other.pk])
            for arm, one in arms
            for other, _counts in arms
            if other.pk in one.joint
        ],
        "readings": readings,
        "halo": compare_halo_checks(campaign),
        "readings_missing": {Reading.WITHOUT_FIRST_QUARTER.value: NOT_WORKED_OUT}
        if without is None
        else {},
        "not_blind": [row for arm, one in arms for row in list_not_blind(arm, one)],
    }
    is_shown = are_shown(campaign, list(counts.values()))
    if execution:
        document["execution"] = execution
    objects = {arm.name: objects_of(one.items) for arm, one in arms}
    details["p_values"] = settle_p_values(campaign, document, details, objects, is_shown=is_shown)
    return document, details


def _add_statements(
    campaign: Campaign, counts: Mapping[int, Counts], pooled: _Stages, by_arm: Mapping[int, _Stages]
) -> tuple[_Stages, Mapping[int, _Stages]]:
    """Add the whole statements that intervals of means over pairs require. Large studies have no such intervals."""
    if sum(sum(one.items.values()) for one in counts.values()) > MOST_ITEMS_OF_A_MEAN:
        return pooled, by_arm
    found = read_statements(campaign)

    def join(stages: _Stages, key: int | None) -> _Stages:
        return {
            stage: replace(one, statements=found[key][stage]) if one.has_mean_over_pairs() else one
            for stage, one in stages.items()
        }

    return join(pooled, None), {key: join(stages, key) for key, stages in by_arm.items()}


def _configurations(counts: Mapping[int, Counts]) -> list[tuple[Configuration, Counts]]:
    """Return the counted Configurations with their counts, sorted by name."""
    found = Configuration.objects.filter(pk__in=counts).prefetch_related("roles").order_by("name")
    return [(one, counts[one.pk]) for one in found]


def _name_reviewers(stages: Mapping[Stage, StageCounts]) -> dict[int, str]:
    keys = {key for one in stages.values() for pair in one.pairs for key in (pair.a, pair.b)}
    return dict(User.objects.filter(pk__in=keys).values_list("pk", "username"))


def _sum_costs(campaign: Campaign) -> Document:
    """Return the calls, tokens, micro-dollars and model milliseconds of the campaign's runs, by Configuration."""
    rows = (
        Spending.objects.filter(batch=campaign.batch_id, batch__isnull=False)
        .order_by()
        .values("configuration__name")
        .annotate(
            calls=Sum("attempts"),
            tokens=Sum("input_tokens") + Sum("output_tokens"),
            micro_dollars=Sum("cost"),
            unpriced_calls=Sum("unpriced"),
            model_milliseconds=Sum("milliseconds"),
        )
    )
    batched = dict(
        Attempt.objects.filter(
            message_batch__batch=campaign.batch_id, outcome=Attempt.Outcome.ANSWERED
        )
        .order_by()
        .values_list("call__run__configuration__name")
        .annotate(count=Count("pk"))
    )
    return {
        name: {key: value for key, value in row.items() if key != "configuration__name"}
        | {"batched_calls": batched.get(name, 0)}
        for row in rows
        for name in [row["configuration__name"]]
    }
