"""The ledger at work: a question is asked of a model once, every try is a row, and a finished one is never made again.

`open_call` commits before the request goes out, `settle` writes the end of the try and the reply in one
transaction, fenced by the run's lease. No transaction is open while a model thinks.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction
from django.db.models import Sum
from django.utils import timezone

from pipeline.demo_model import find_demo_model
from pipeline.leases import Lease
from pipeline.llm.requests import RoleSpec, build_request, hash_call, reply_of
from pipeline.llm.types import Answered, Failed, FailureKind, Request, Target, Usage
from pipeline.models import Attempt, Batch, Endpoint, ModelCall, Price, Refinement, Run
from pipeline.types import Problem, Question, Reply

MAX_TRIES_AFTER_FAILURE = (
    2  # a broken or missing reply is tried once more, for it may have been billed
)
MAX_UNREACHABLE = 20
MAX_REST_SECONDS = 300
LIMIT_REST = timedelta(hours=1)


class Rest(Exception):
    """The run can't go on before a time; its worker is to be free until then."""

    def __init__(self, until: datetime, why: str) -> None:
        super().__init__(why)
        self.until = until


@dataclass(frozen=True)
class Opened:
    """A try that is about to be made."""

    call: ModelCall
    attempt: Attempt
    target: Target
    request: Request


def open_call(
    lease: Lease, question: Question, role: RoleSpec, *, refinement: Refinement | None
) -> Opened | Reply:
    """The stored reply where the question was answered before; else a new try, noted and committed.

    Raises Rest where the endpoint or the batch must wait, Problem where its tries are used up.
    """
    request = build_request(question, role)
    key = hash_call(
        lease.run_id,
        question,
        refinement=refinement.pk if refinement else None,
        endpoint=role.endpoint,
        request=request,
    )
    with transaction.atomic():
        run = lease.check()
        call, _ = ModelCall.objects.get_or_create(
            run_id=lease.run_id,
            refinement=refinement,
            stage=question.stage.value,
            round=question.round,
            sample=question.sample,
            defaults={
                "key": key,
                "endpoint_id": role.endpoint_id,
                "model": role.model,
                "prompt": question.prompt,
                "prompt_version": question.prompt_version,
                "request": request,
            },
        )
        if call.state == ModelCall.State.DONE:
            return reply_of(call.reply or {})
        if call.state == ModelCall.State.FAILED:
            raise Problem(_last_message(call))
        endpoint = _claim_place(call.endpoint_id)
        _check_budget(run)
        attempt = Attempt.objects.create(
            call=call, number=call.attempts.count() + 1, fence=lease.fence
        )
        ModelCall.objects.filter(pk=call.pk).update(fence=lease.fence)
    return Opened(call, attempt, target_of(endpoint), call.request)


def settle(lease: Lease, opened: Opened, ended: Answered | Failed) -> Reply | Exception:
    """Write how the try ended. Returns the reply, or what keeps the run from going on, to be raised by the caller.

    Both tries of a pair are to be written before either stops the run, so this does not raise for them.
    """
    with transaction.atomic():
        if isinstance(ended, Answered):
            _close_answered(opened, ended)
            run = lease.check()
            ModelCall.objects.filter(pk=opened.call.pk, fence=lease.fence).update(
                state=ModelCall.State.DONE, reply=ended.message, ended_at=timezone.now()
            )
            if run.crashes:
                Run.objects.filter(pk=run.pk).update(crashes=0)
            return reply_of(ended.message)
        _close_failed(opened, ended)
        lease.check()
        return _after_failure(opened, ended)


def target_of(endpoint: Endpoint) -> Target:
    """Where an endpoint's requests go; the key comes from the environment now, and is stored nowhere."""
    if endpoint.demo:
        url = find_demo_model()
        if url is None:
            raise Rest(timezone.now() + timedelta(seconds=2), "The demo model is not running.")
        return Target(endpoint.name, url, "demo", float(endpoint.timeout_seconds))
    key = os.environ.get(endpoint.key_variable, "") if endpoint.key_variable else "none"
    if not key:
        raise Problem(
            f"{endpoint} needs its key in the environment variable {endpoint.key_variable}."
        )
    return Target(endpoint.name, endpoint.base_url, key, float(endpoint.timeout_seconds))


def cost_of(usage: Usage, price: Price) -> int:
    """Micro-dollars, rounded half up, from tokens and prices per million tokens."""
    total = (
        usage.input * price.input
        + usage.output * price.output
        + usage.cache_read * price.cache_read
        + usage.cache_write * price.cache_write
    )
    return (total + 500_000) // 1_000_000


def _claim_place(endpoint_id: int) -> Endpoint:
    """The endpoint, where it is switched on, awake, and has a place free for one more call in flight."""
    with connection.cursor() as cursor:
        # Counting and adding must not interleave between workers; the lock ends with the transaction.
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('endpoint'), %s)", [endpoint_id])
    endpoint = Endpoint.objects.get(pk=endpoint_id)
    now = timezone.now()
    if not endpoint.is_on:
        raise Problem(f"{endpoint} is switched off.")
    if endpoint.blocked_until and endpoint.blocked_until > now:
        raise Rest(endpoint.blocked_until, endpoint.blocked_why)
    in_flight = Attempt.objects.filter(
        ended_at=None, call__endpoint=endpoint, call__run__lease_until__gt=now
    ).count()
    if in_flight >= endpoint.max_in_flight:
        raise Rest(now + timedelta(milliseconds=500), f"{endpoint} has no place free.")
    return endpoint


def _check_budget(run: Run) -> None:
    if run.batch_id is None:
        return
    batch = Batch.objects.get(pk=run.batch_id)
    if batch.budget is not None and spent_by(batch) >= batch.budget:
        pause_batch(batch, "The budget is used up.")
        raise Rest(timezone.now(), "The budget is used up.")


def spent_by(batch: Batch) -> int:
    """Micro-dollars that the batch's calls have cost so far."""
    total = Attempt.objects.filter(call__run__batch=batch).aggregate(total=Sum("cost"))["total"]
    return int(total or 0)


def pause_batch(batch: Batch, why: str) -> None:
    """Stop handing out the batch's runs; those under way stop before their next call."""
    Batch.objects.filter(pk=batch.pk, paused_at=None).update(
        paused_at=timezone.now(), paused_why=why
    )


def _close_answered(opened: Opened, ended: Answered) -> None:
    call, usage = opened.call, ended.usage
    price = (
        Price.objects.filter(
            endpoint_id=call.endpoint_id, model=call.model, since__lte=timezone.now().date()
        )
        .order_by("-since")
        .first()
    )
    Attempt.objects.filter(pk=opened.attempt.pk, ended_at=None).update(
        ended_at=timezone.now(),
        outcome=Attempt.Outcome.ANSWERED,
        http_status=200,
        request_id=ended.request_id,
        milliseconds=ended.milliseconds,
        input_tokens=usage.input,
        output_tokens=usage.output,
        cache_read_tokens=usage.cache_read,
        cache_write_tokens=usage.cache_write,
        thinking_tokens=usage.thinking,
        cost=cost_of(usage, price) if price else None,
        price_since=price.since if price else None,
    )


def _close_failed(opened: Opened, ended: Failed) -> None:
    Attempt.objects.filter(pk=opened.attempt.pk, ended_at=None).update(
        ended_at=timezone.now(),
        outcome=ended.kind.value,
        http_status=ended.http_status,
        error_type=ended.error_type[:60],
        message=ended.message,
        request_id=ended.request_id,
        possibly_billed=ended.possibly_billed,
        milliseconds=ended.milliseconds,
    )


def _after_failure(opened: Opened, ended: Failed) -> Exception:
    call, endpoint = opened.call, opened.call.endpoint
    tries = call.attempts.filter(outcome=ended.kind.value).count()
    said = f"{endpoint}: {ended.message}" + (
        f" (HTTP {ended.http_status})" if ended.http_status else ""
    )
    if ended.kind is FailureKind.LIMIT:
        _rest_endpoint(endpoint, LIMIT_REST, said)
        batch = call.run.batch
        if batch:
            pause_batch(batch, said)
        return (
            _fail(call, f"A spend limit is reached. {said}") if not batch else _rest_until(endpoint)
        )
    if ended.kind is FailureKind.BUSY:
        seconds = ended.retry_after if ended.retry_after is not None else 2.0 ** min(tries, 6)
        _rest_endpoint(endpoint, timedelta(seconds=min(seconds, MAX_REST_SECONDS)), said)
        return _rest_until(endpoint)
    if ended.kind is FailureKind.UNREACHABLE and tries < MAX_UNREACHABLE:
        _rest_endpoint(endpoint, timedelta(seconds=min(2.0 ** min(tries, 4), 15)), said)
        return _rest_until(endpoint)
    if (
        ended.kind in (FailureKind.BROKEN, FailureKind.TIMEOUT)
        and _failures(call) < MAX_TRIES_AFTER_FAILURE
    ):
        return Rest(timezone.now(), said)
    return _fail(call, said)


def _failures(call: ModelCall) -> int:
    return call.attempts.filter(
        outcome__in=[Attempt.Outcome.BROKEN, Attempt.Outcome.TIMEOUT]
    ).count()


def _rest_endpoint(endpoint: Endpoint, rest: timedelta, why: str) -> None:
    endpoint.blocked_until = timezone.now() + rest
    endpoint.blocked_why = why[:300]
    endpoint.save(update_fields=["blocked_until", "blocked_why"])


def _rest_until(endpoint: Endpoint) -> Rest:
    return Rest(endpoint.blocked_until or timezone.now(), endpoint.blocked_why)


def _fail(call: ModelCall, why: str) -> Problem:
    ModelCall.objects.filter(pk=call.pk).exclude(state=ModelCall.State.DONE).update(
        state=ModelCall.State.FAILED, ended_at=timezone.now()
    )
    return Problem(why)


def _last_message(call: ModelCall) -> str:
    last = call.attempts.order_by("-pk").first()
    return f"{call.endpoint}: {last.message}" if last else f"{call.endpoint} gave no reply."
