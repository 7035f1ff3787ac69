"""Collect waiting calls into Message Batches, usually one batch for each stage of a campaign's runs.

A batch is closed when no run of the campaign is about to add a call, when its oldest call is due, or when it is full.
Its expected cost is reserved from the budget until the batch ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Max, Min, Q, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import emit
from pipeline.costs.pricing import cost_of, price_on
from pipeline.ledger.outgoing_secrets import mask_calls
from pipeline.llm.types import Usage
from pipeline.message_batches.waiting import waiting_calls
from pipeline.models import Attempt, Batch, Endpoint, MessageBatch, ModelCall, Run, Spending
from pipeline.scheduling.batches import spent_by, stop_batch

# The server accepts 100,000 requests or 256 MB. These limits are lower, because the worker keeps all requests in
# memory.
MOST_REQUESTS = 10_000
MOST_BYTES = 32_000_000
# A low value, so that the token count is not underestimated.
_CHARACTERS_A_TOKEN = 3


def collect_waiting() -> list[MessageBatch]:
    """Create and store a batch for each campaign and endpoint whose waiting calls are due."""
    found = (
        waiting_calls()
        .filter(run__batch__paused_at=None, run__batch__uses_message_batches=True)
        .order_by()
        .values_list("run__batch", "endpoint")
        .annotate(count=Count("pk"), oldest=Min("created_at"))
    )
    made = [
        _collect(batch_id, endpoint_id)
        for batch_id, endpoint_id, count, oldest in found
        if not _reads_results(batch_id, endpoint_id)
        and (
            count >= MOST_REQUESTS
            or oldest <= timezone.now() - timedelta(seconds=settings.SCRIPTSMITH_BATCH_WAIT_SECONDS)
            or not _has_others_on_the_way(batch_id)
        )
    ]
    return [one for one in made if one is not None]


def _reads_results(batch_id: int, endpoint_id: int) -> bool:
    """Return whether replies are being distributed now. The runs that they wake will add more calls."""
    return MessageBatch.objects.filter(
        batch=batch_id, endpoint=endpoint_id, state=MessageBatch.State.ENDED
    ).exists()


def _has_others_on_the_way(batch_id: int) -> bool:
    asleep = Q(state=Run.State.QUEUED, not_before__gt=timezone.now())
    return Run.objects.unfinished().filter(~asleep, batch=batch_id).exists()


@transaction.atomic
def _collect(batch_id: int, endpoint_id: int) -> MessageBatch | None:
    """Create a batch from the calls that fit the size limits and the budget, or return None if no call fits."""
    # The lock makes the budget check and the reservation atomic.
    batch = Batch.objects.select_for_update(no_key=True).get(pk=batch_id)
    endpoint = Endpoint.objects.get(pk=endpoint_id)
    if batch.paused_at is not None or not endpoint.is_on:
        return None
    # Batches may have been turned off for the campaign or the endpoint since the calls were counted.
    if not (batch.uses_message_batches and endpoint.has_batches):
        return None
    under_way = MessageBatch.objects.filter(batch=batch, state__in=MessageBatch.UNFINISHED)
    kept = under_way.aggregate(total=Sum("reserved"))["total"]
    left = None if batch.budget is None else batch.budget - spent_by(batch) - (kept or 0)
    if left is not None and left <= 0:
        if kept is None and stop_batch(batch, _("The budget is used up.")):
            emit(batch, "budget used")
        return None
    calls = list(
        waiting_calls()
        .filter(run__batch=batch, endpoint=endpoint)
        .select_related("run__action", "refinement__feedback")
        .select_for_update(of=("self",), no_key=True, skip_locked=True)
        .order_by("created_at", "pk")[:MOST_REQUESTS]
    )
    taken, reserved = _within_budget(_within_size(calls), left, is_first=kept is None)
    if not taken:
        return None
    mask_calls(taken, endpoint)
    made = MessageBatch.objects.create(
        batch=batch, endpoint=endpoint, requests=len(taken), reserved=reserved
    )
    numbers = dict(
        Attempt.objects.filter(call__in=taken)
        .order_by()
        .values_list("call")
        .annotate(last=Max("number"))
    )
    Attempt.objects.bulk_create(
        Attempt(
            call=call,
            number=numbers.get(call.pk, 0) + 1,
            fence=call.run.fence,
            message_batch=made,
        )
        for call in taken
    )
    return made


def _within_size(calls: Iterable[ModelCall]) -> list[ModelCall]:
    """Return the first calls that fit into one request, but at least one call."""
    size, taken = 0, list[ModelCall]()
    for call in calls:
        size += len(json.dumps(call.request))
        if taken and size > MOST_BYTES:
            break
        taken.append(call)
    return taken


def _within_budget(
    calls: Sequence[ModelCall], left: int | None, *, is_first: bool
) -> tuple[list[ModelCall], int]:
    """Return the first calls that the remaining budget can pay for, and the amount to reserve.

    If the campaign has no batch in progress, at least one call is returned, as with direct calls.
    """
    costs = _expected_costs(calls)
    if left is None:
        return list(calls), sum(costs)
    taken, reserved = list[ModelCall](), 0
    for call, cost in zip(calls, costs, strict=True):
        if reserved + cost > left and (taken or not is_first):
            break
        taken.append(call)
        reserved += cost
    return taken, reserved


def _expected_costs(calls: Sequence[ModelCall]) -> list[int]:
    """Estimate each call's cost in micro-dollars, from the average output of its model and stage or its limit."""
    usual = dict[tuple[str, str], int]()
    prices = {}
    costs = []
    for call in calls:
        kind = (call.model, call.stage)
        if kind not in usual:
            usual[kind] = _usual_output(*kind)
        if call.model not in prices:
            prices[call.model] = price_on(
                timezone.now().date(), endpoint=call.endpoint_id, model=call.model
            )
        price = prices[call.model]
        usage = Usage(
            input=len(json.dumps(call.request)) // _CHARACTERS_A_TOKEN,
            output=usual[kind] or int(str(call.request.get("max_tokens", 0))),
        )
        costs.append(0 if price is None else cost_of(usage, price, in_batch=True))
    return costs


def _usual_output(model: str, stage: str) -> int:
    sums = Spending.objects.filter(model=model, stage=stage, answered__gt=0).aggregate(
        tokens=Sum("output_tokens"), answered=Sum("answered")
    )
    return -(-int(sums["tokens"] or 0) // int(sums["answered"] or 1))
