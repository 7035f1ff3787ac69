"""Start a campaign's runs. All runs are requested together, and a worker starts them in slices.

An item without a run is a request for this run. Requests are therefore not lost if the worker crashes or its task
message is lost.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from celery import current_app
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from core.audit import record
from core.database.bulk_copy import Table
from core.errors import NotAllowedNow, Refused
from pipeline import services as pipeline
from pipeline.configurations.services import is_usable
from pipeline.models import Configuration, Run
from review.campaigns.services.states import pilot_cases
from review.counting.tallies import note_due
from review.models import Campaign, Case, Item
from review.sampling import overlap_of, shuffle_of

logger = logging.getLogger(__name__)

SLICE = 200
_ITEM = ("case_id", "configuration_id", "shuffle", "overlap", "places", "pilot")


def count_missing_runs(campaign: Campaign, *, pilot: bool = False) -> dict[Configuration, int]:
    """Return the number of cases without a requested run, by configuration.

    With `pilot`, only pilot cases are counted.
    """
    return {one: cases.count() for one, cases in _missing(campaign, pilot=pilot).items()}


def _missing(campaign: Campaign, *, pilot: bool) -> Mapping[Configuration, QuerySet[Case]]:
    # Repeats and halo checks already have a run.
    cases = campaign.cases.filter(repeats=None)
    if pilot:
        cases = cases.filter(pk__in=list(pilot_cases(campaign).values_list("pk", flat=True)))
    found = {}
    for configuration in campaign.configurations.prefetch_related("roles__endpoint"):
        there = Item.objects.filter(case=OuterRef("pk"), configuration=configuration)
        found[configuration] = cases.filter(~Exists(there))
    return found


@transaction.atomic
def ask_for_runs(campaign: Campaign, *, by: User, pilot: bool = False) -> int:
    """Request all missing runs, or only the pilot's runs, and return the number of requests.

    Raises NotAllowedNow if no run is missing, a configuration can't be used, or the study is closed.
    """
    locked = Campaign.objects.select_for_update(of=("self",), no_key=True).get(pk=campaign.pk)
    if locked.state == Campaign.State.CLOSED:
        raise NotAllowedNow(_("The study is closed. Reopen it first."))
    missing = _missing(locked, pilot=pilot)
    if not missing:
        raise NotAllowedNow(_("Choose at least one configuration first."))
    unusable = [str(one) for one, cases in missing.items() if not is_usable(one) and cases.exists()]
    if unusable:
        raise NotAllowedNow(
            _(
                "These configurations can't run: %s. They are archived, or an endpoint is turned off."
            )
            % ", ".join(unusable)
        )
    count = sum(_note_items(locked, one, cases, pilot=pilot) for one, cases in missing.items())
    if not count:
        raise NotAllowedNow(_("All statements have already been run."))
    record(campaign, "runs asked for", by=by, runs=("", count), pilot=("", pilot))
    transaction.on_commit(lambda: _send_start_task(campaign.pk))
    return count


def _note_items(
    campaign: Campaign, configuration: Configuration, cases: QuerySet[Case], *, pilot: bool
) -> int:
    """Create an item without a run for each case, and return the number of items.

    COPY is used, because a study may have 100,000 items.
    """
    rows = []
    for key, external_id, purpose in cases.order_by("pk").values_list(
        "pk", "external_id", "purpose"
    ):
        shuffle = shuffle_of(campaign, f"{external_id}:{configuration.name}")
        overlap = overlap_of(campaign, shuffle=shuffle, purpose=purpose)
        is_pilot = pilot and purpose == Case.Purpose.REAL
        rows.append((key, configuration.pk, shuffle, overlap, overlap, is_pilot))
    Table(Item, _ITEM, without_key=True, campaign_id=campaign.pk).copy(rows)
    # These items now count as open in all figures.
    made = Item.objects.filter(case__in=[row[0] for row in rows], configuration=configuration)
    note_due(campaign, made.values_list("pk", flat=True))
    return len(rows)


def start_asked(campaign: Campaign | None = None, *, most: int = 1_000_000) -> int:
    """Start the requested runs of a campaign or of all campaigns, and return the number of started runs.

    Two workers never start the same run, because each worker locks the items whose runs it starts.
    """
    waiting = Item.objects.filter(run=None, state=Item.State.PREPARING, case__repeats=None).exclude(
        campaign__state=Campaign.State.CLOSED
    )
    if campaign is not None:
        waiting = waiting.filter(campaign=campaign)
    started, unusable = 0, set[int]()
    while started < most:
        count = _start_slice(waiting.exclude(configuration__in=unusable), unusable)
        if count is None:
            break
        started += count
    return started


@transaction.atomic
def _start_slice(waiting: QuerySet[Item], unusable: set[int]) -> int | None:
    """Start a slice of runs and return their number, or None if no requests are left.

    Configurations that can't be used are added to `unusable`.
    """
    items = list(
        waiting.select_for_update(of=("self",), skip_locked=True)
        .select_related("case__action", "configuration", "campaign__batch", "campaign__created_by")
        .order_by("pk")[:SLICE]
    )
    started = 0
    for item in items:
        if item.configuration_id in unusable:
            continue
        try:
            item.run = _start(item)
        except Refused as refusal:
            # The configuration was disabled after the request. The periodic task tries again later.
            logger.warning("no runs under %s: %s", item.configuration, refusal)
            unusable.add(item.configuration_id)
            continue
        item.save(update_fields=["run"])
        started += 1
    return started if items else None


@transaction.atomic
def _start(item: Item) -> Run:
    return pipeline.start_run(
        item.case.action,
        by=item.campaign.created_by,
        configuration=item.configuration,
        origin=Run.Origin.CAMPAIGN,
        # Disable retrieval in studies, because a script from the catalogue is not a model's first Draft.
        uses_retrieval=False,
        uses_examples=item.campaign.uses_examples,
        batch=item.campaign.batch,
    )


def _send_start_task(campaign_id: int) -> None:
    try:
        current_app.send_task("review.start_runs", (campaign_id,))
    except (OperationalError, OSError) as error:
        # The periodic task starts the runs when the broker is available again.
        logger.warning("the broker can't be reached: %s", error)
