"""Decide what follows a failed attempt: retry, pause the endpoint, pause the batch, or give up."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q
from django.utils.translation import gettext as _

from core.database.clock import database_now
from pipeline.ledger.capacity import RunMustWait
from pipeline.llm.types import Failed, FailureKind, Trouble
from pipeline.models import Attempt, Batch, Endpoint, ModelCall
from pipeline.scheduling.batches import stop_batch
from pipeline.types import Problem

# Retry only once, because a broken or missing reply may have been billed.
MAX_TRIES_AFTER_FAILURE = 2
# The built-in server bills nothing and restarts when it is killed.
MAX_TRIES_AT_LOCAL_MODEL = 10
MAX_UNREACHABLE = 20
MAX_REST_SECONDS = 300
LIMIT_REST = timedelta(hours=1)
LOADING_REST = timedelta(seconds=2)
# After expiring in this many batches, a request is sent directly at the full price.
MAX_EXPIRED = 2


def decide_after_failure(
    call: ModelCall, ended: Failed, *, batch: Batch | None
) -> Exception | None:
    """Return None to retry, RunMustWait if the endpoint or batch must pause, or Problem to give up.

    Call this function in the transaction that ends the attempt.
    """
    endpoint = call.endpoint
    tries = call.attempts.filter(outcome=ended.kind.value).count()
    said = f"{endpoint}: {ended.message}" + (
        f" (HTTP {ended.http_status})" if ended.http_status else ""
    )
    if ended.kind is FailureKind.LIMIT and batch:
        why = _("The account has reached its spend limit. %s") % said
        stop_batch(batch, why)
        return RunMustWait(why)
    if ended.kind is FailureKind.LIMIT:
        return rest_endpoint(
            endpoint, LIMIT_REST, _("The account has reached its spend limit. %s") % said
        )
    if ended.error_type == Trouble.LOADING:
        return rest_endpoint(endpoint, LOADING_REST, _("%s is loading its model.") % endpoint)
    if ended.kind is FailureKind.BUSY:
        seconds = ended.retry_after if ended.retry_after is not None else 2.0 ** min(tries, 6)
        return rest_endpoint(endpoint, timedelta(seconds=min(seconds, MAX_REST_SECONDS)), said)
    if ended.kind is FailureKind.UNREACHABLE and tries < MAX_UNREACHABLE:
        return rest_endpoint(endpoint, timedelta(seconds=min(2.0 ** min(tries, 4), 15)), said)
    if ended.kind in (FailureKind.EXPIRED, FailureKind.CANCELLED):
        if ended.kind is FailureKind.EXPIRED and tries >= MAX_EXPIRED:
            ModelCall.objects.filter(pk=call.pk).update(in_batches=False)
        return None
    if ended.kind in (FailureKind.BROKEN, FailureKind.TIMEOUT) and _failures(call) < _most(
        ended, endpoint
    ):
        return None
    return _fail(call, said)


def _most(ended: Failed, endpoint: Endpoint) -> int:
    """Return the number of attempts after which a broken or missing reply is final."""
    broke_off = ended.kind is FailureKind.TIMEOUT and ended.error_type != ""
    if broke_off and endpoint.base_url == Endpoint.LOCAL:
        return MAX_TRIES_AT_LOCAL_MODEL
    return MAX_TRIES_AFTER_FAILURE


def _failures(call: ModelCall) -> int:
    return call.attempts.filter(
        outcome__in=[Attempt.Outcome.BROKEN, Attempt.Outcome.TIMEOUT]
    ).count()


def rest_endpoint(endpoint: Endpoint, rest: timedelta, why: str) -> RunMustWait:
    """Pause the endpoint, unless it is already paused for longer, and return the exception for its runs."""
    until, why = database_now() + rest, why[:300]
    Endpoint.objects.filter(
        Q(blocked_until=None) | Q(blocked_until__lt=until), pk=endpoint.pk
    ).update(blocked_until=until, blocked_why=why)
    endpoint.refresh_from_db(fields=["blocked_until", "blocked_why"])
    return RunMustWait(endpoint.blocked_why, until=endpoint.blocked_until, waits_for=endpoint.pk)


def _fail(call: ModelCall, why: str) -> Problem:
    ModelCall.objects.filter(pk=call.pk).exclude(state=ModelCall.State.DONE).update(
        state=ModelCall.State.FAILED, ended_at=database_now()
    )
    return Problem(why)


def failure_message(call: ModelCall) -> str:
    """Return the reason why a call failed."""
    last = call.attempts.order_by("-pk").first()
    return f"{call.endpoint}: {last.message}" if last else f"{call.endpoint} did not reply."
