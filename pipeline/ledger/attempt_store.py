"""Close attempts. One SQL statement records their results, costs and spending, and stores the replies."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from django.db import connection

from core.database.clock import database_now
from pipeline.costs.daily_spending import COUNT_TRIES
from pipeline.costs.pricing import cost_of, price_on
from pipeline.llm.types import Answered, Failed
from pipeline.models import Attempt, ModelCall, Price
from pipeline.scheduling.run_leases import Lease, LostLease

_Model = tuple[int, str]  # the key of the endpoint, and the model's name

_CLOSE = """
WITH held AS (
    SELECT id, batch_id, crashes FROM pipeline_run
    WHERE id = %(run)s AND owner = %(owner)s AND fence = %(fence)s
    FOR NO KEY UPDATE
), ended AS (
    SELECT one.*
    FROM held
    CROSS JOIN jsonb_to_recordset(%(tries)s::jsonb) AS one (
        id bigint, outcome text, http_status int, error_type text, message text, request_id text,
        possibly_billed boolean, milliseconds int, input_tokens int, output_tokens int,
        cache_read_tokens int, cache_write_tokens int, thinking_tokens int,
        call text, reply jsonb, cost bigint, price_since date
    )
), closed AS (
    UPDATE pipeline_attempt AS attempt SET
        ended_at = %(now)s, outcome = ended.outcome, http_status = ended.http_status,
        error_type = ended.error_type, message = ended.message, request_id = ended.request_id,
        possibly_billed = ended.possibly_billed, milliseconds = ended.milliseconds,
        input_tokens = ended.input_tokens, output_tokens = ended.output_tokens,
        cache_read_tokens = ended.cache_read_tokens, cache_write_tokens = ended.cache_write_tokens,
        thinking_tokens = ended.thinking_tokens, cost = ended.cost, price_since = ended.price_since
    FROM ended
    WHERE attempt.id = ended.id AND attempt.ended_at IS NULL
    RETURNING attempt.*
), answered AS (
    UPDATE pipeline_modelcall AS call SET state = 'done', reply = ended.reply, ended_at = %(now)s
    FROM ended
    WHERE call.key = ended.call AND ended.reply IS NOT NULL AND call.state <> 'done'
    RETURNING call.key
), revived AS (
    UPDATE pipeline_run AS run SET crashes = 0
    FROM held
    WHERE run.id = held.id AND held.crashes > 0 AND EXISTS (SELECT FROM answered)
)"""
_CLOSED = " SELECT batch_id, ARRAY(SELECT id FROM closed) FROM held"
_COUNTED = f", counted AS ({COUNT_TRIES.format(tries='closed', narrowed='')})"


class Closed(NamedTuple):
    """The closed attempts, and the batch of their run."""

    batch_id: int | None
    attempts: list[int]


def close_tries(
    lease: Lease, tries: Sequence[tuple[ModelCall, Attempt, Answered | Failed]], *, counted: bool
) -> Closed:
    """Record the results and replies of one run's attempts, and that the worker is alive.

    This is one atomic statement. With `counted`, the attempts are also added to the spending. Otherwise, the caller
    must add them at the end of its transaction. Raises LostLease without writing anything.
    """
    now = database_now()
    prices = _prices_of(tries, now.date())
    with connection.cursor() as cursor:
        cursor.execute(
            _CLOSE + (_COUNTED if counted else "") + _CLOSED,
            {
                "run": lease.run_id,
                "owner": lease.owner,
                "fence": lease.fence,
                "now": now,
                "tries": json.dumps([_ended(*one, prices) for one in tries]),
            },
        )
        row = cursor.fetchone()
    if row is None:
        raise LostLease(f"run {lease.run_id}")
    return Closed(*row)


def _ended(
    call: ModelCall,
    attempt: Attempt,
    ended: Answered | Failed,
    prices: Mapping[_Model, Price | None],
) -> dict[str, object]:
    about = {
        "id": attempt.pk,
        "call": call.key,
        "request_id": ended.request_id,
        # Batches do not report how long the model took.
        "milliseconds": None if attempt.message_batch_id else ended.milliseconds,
    }
    if isinstance(ended, Failed):
        return about | {
            "outcome": ended.kind.value,
            "http_status": ended.http_status,
            "error_type": ended.error_type[:60],
            "message": ended.message,
            "possibly_billed": ended.possibly_billed,
            "input_tokens": 0,
            "output_tokens": 0,
            "cache_read_tokens": 0,
            "cache_write_tokens": 0,
            "thinking_tokens": 0,
        }
    return (
        about
        | {
            "outcome": Attempt.Outcome.ANSWERED.value,
            "http_status": 200,
            "error_type": ended.doubt or "",
            "message": ended.said,
            "possibly_billed": False,
            "input_tokens": ended.usage.input,
            "output_tokens": ended.usage.output,
            "cache_read_tokens": ended.usage.cache_read,
            "cache_write_tokens": ended.usage.cache_write,
            "thinking_tokens": ended.usage.thinking,
            "reply": ended.message,
        }
        | _priced(call, ended, prices, in_batch=attempt.message_batch_id is not None)
    )


def _prices_of(
    tries: Sequence[tuple[ModelCall, Attempt, Answered | Failed]], day: date
) -> dict[_Model, Price | None]:
    """Return the price on a day for each model that replied. Parallel calls usually share a model."""
    models = {_model_of(call) for call, _, ended in tries if isinstance(ended, Answered)}
    return {
        (endpoint, model): price_on(day, endpoint=endpoint, model=model)
        for endpoint, model in models
    }


def _model_of(call: ModelCall) -> _Model:
    return call.endpoint_id, call.model


def _priced(
    call: ModelCall,
    ended: Answered,
    prices: Mapping[_Model, Price | None],
    *,
    in_batch: bool,
) -> dict[str, object]:
    """Return the cost and the price's date, or an empty dict if the price or the token counts are unknown."""
    price = None if ended.doubt else prices[_model_of(call)]
    if price is None:
        return {}
    return {
        "cost": cost_of(ended.usage, price, in_batch=in_batch),
        "price_since": price.since.isoformat(),
    }
