"""Admits calls to an endpoint: as many as it has places for, in turn, counted and noted while its row is locked.

Counting calls in flight and noting another one must not interleave between workers, so the endpoint's row is
locked for it. Both statements and their commit travel together: nothing of the client's happens meanwhile, or
each run would wait for the others' round trips and for their turns at Python's lock. The endpoint is locked
before the run, as everywhere (docs/decisions, order of locks).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection
from django.utils import timezone
from django.utils.translation import gettext as _

from pipeline.ledger.capacity import CAMPAIGN_TURN, IN_FLIGHT, KEPT, Rest
from pipeline.models import Attempt, Endpoint, ModelCall
from pipeline.scheduling.run_leases import Lease, LostLease
from pipeline.types import Problem

logger = logging.getLogger(__name__)

_LONG_WAIT = timedelta(seconds=1)

_LOCK = "SELECT statement_timestamp() FROM pipeline_endpoint WHERE id = %s FOR NO KEY UPDATE"

# Times are the statement's, and not the transaction's: it may have waited for the lock.
_ADMIT = f"""
WITH held AS (
    SELECT run.id, run.batch_id, run.waits_for_id, batch.priority
    FROM pipeline_run AS run LEFT JOIN pipeline_batch AS batch ON batch.id = run.batch_id
    WHERE run.id = %(run)s AND run.owner = %(owner)s AND run.fence = %(fence)s
    FOR NO KEY UPDATE OF run
), endpoint AS (
    SELECT max_in_flight, blocked_until, blocked_why, campaign_call_at,
        enabled OR name = ANY(%(switched_on)s) AS is_on,
        coalesce(blocked_until > statement_timestamp(), false) AS rests,
        coalesce(campaign_call_at <= statement_timestamp() - %(turn)s, true) AS turn_is_due
    FROM pipeline_endpoint WHERE id = %(endpoint)s
), waiting AS (
    SELECT count(*) AS everybody,
        count(*) FILTER (WHERE other.batch_id IS NULL) AS people,
        count(*) FILTER (WHERE other.batch_id IS NULL AND other.id < held.id) AS older_people,
        count(*) FILTER (WHERE other.batch_id IS NOT NULL) AS campaigns,
        count(*) FILTER (
            WHERE batch.priority > held.priority
                OR batch.priority = held.priority AND other.id < held.id
        ) AS campaigns_before
    FROM held
    JOIN pipeline_run AS other ON other.waits_for_id = %(endpoint)s AND other.id <> held.id
    LEFT JOIN pipeline_batch AS batch ON batch.id = other.batch_id
    WHERE batch.paused_at IS NULL AND (
        other.state = 'running' AND other.lease_until > statement_timestamp()
        -- One that was told and did not come within its time keeps nobody waiting.
        OR other.state = 'queued'
            AND (other.told_at IS NULL OR other.told_at > statement_timestamp() - %(kept)s)
    )
), counted AS (
    SELECT max_in_flight - ({IN_FLIGHT}) AS free,
        CASE
            WHEN held.batch_id IS NULL THEN older_people + least(campaigns, turn_is_due::int)
            WHEN turn_is_due THEN campaigns_before
            ELSE campaigns_before + people
        END AS ahead
    FROM held, endpoint, waiting
), admitted AS (
    SELECT free, CASE
        WHEN is_on AND NOT rests THEN greatest(0, least(%(wanted)s, free - ahead)) ELSE 0
    END AS given
    FROM counted, endpoint
), asked AS (
    SELECT * FROM jsonb_to_recordset(%(calls)s::jsonb) AS one (
        place int, key text, stage text, round int, sample int, model text, prompt text,
        prompt_version text, request jsonb, created_at timestamptz
    )
    -- Without a lease nothing is admitted; a limit of null would be none.
    ORDER BY place LIMIT coalesce((SELECT given FROM admitted), 0)
), called AS (
    INSERT INTO pipeline_modelcall (
        key, run_id, refinement_id, stage, round, sample, endpoint_id, model, prompt,
        prompt_version, request, state, fence, outcome, created_at
    )
    SELECT key, %(run)s, %(refinement)s, stage, round, sample, %(endpoint)s, model, prompt,
        prompt_version, request, 'open', %(fence)s, '', created_at
    FROM asked
    ON CONFLICT (key) DO UPDATE SET fence = excluded.fence
), noted AS (
    INSERT INTO pipeline_attempt (
        call_id, number, fence, started_at, outcome, error_type, message, request_id,
        possibly_billed, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
        thinking_tokens
    )
    SELECT key, (SELECT coalesce(max(number), 0) + 1 FROM pipeline_attempt WHERE call_id = key),
        %(fence)s, %(now)s, '', '', '', '', false, 0, 0, 0, 0, 0
    FROM asked
    RETURNING id, number, call_id
), came AS (
    UPDATE pipeline_run AS run SET waits_for_id = NULL
    FROM held, admitted
    WHERE run.id = held.id AND held.waits_for_id IS NOT NULL AND admitted.given > 0
), campaign AS (
    UPDATE pipeline_endpoint AS row SET campaign_call_at = statement_timestamp()
    FROM held, admitted
    WHERE row.id = %(endpoint)s AND held.batch_id IS NOT NULL AND admitted.given > 0
        AND coalesce(row.campaign_call_at <= statement_timestamp() - %(turn)s / 10, true)
)
SELECT endpoint.is_on, endpoint.rests, endpoint.blocked_until, endpoint.blocked_why, admitted.free,
    waiting.everybody, statement_timestamp(), noted.id, noted.number, noted.call_id
FROM admitted CROSS JOIN endpoint CROSS JOIN waiting LEFT JOIN noted ON true
"""


@dataclass(frozen=True)
class Admission:
    """The tries that were noted, of the first calls asked for, and whether others could have a place too."""

    tries: list[Attempt]
    tell_others: bool


class Row(NamedTuple):
    """What `_ADMIT` returns: one for each try, or one without a try."""

    is_on: bool
    rests: bool
    blocked_until: datetime | None
    blocked_why: str
    free: int
    everybody: int
    locked_at: datetime
    attempt: int | None
    number: int
    call: str


def admit(lease: Lease, endpoint: Endpoint, calls: Sequence[ModelCall]) -> Admission:
    """One more try of at least one of these calls of one run to this endpoint, committed; calls without a row get one.

    Raises Rest where no place is free, or all that are belong to runs whose turn is first; Problem where the
    endpoint is switched off; LostLease. Then nothing is noted. To be called outside a transaction, or the endpoint
    stays locked until its end.
    """
    now = timezone.now()
    values: dict[str, Any] = {
        "run": lease.run_id,
        "owner": lease.owner,
        "fence": lease.fence,
        "endpoint": endpoint.pk,
        "refinement": calls[0].refinement_id,
        "switched_on": settings.SCRIPTSMITH_ENDPOINTS,
        "turn": CAMPAIGN_TURN,
        "kept": KEPT,
        "wanted": len(calls),
        "now": now,
        "calls": json.dumps([_asked(call) | {"place": at} for at, call in enumerate(calls)]),
    }
    asked_at, rows = lock_and_admit(endpoint.pk, values)
    if not rows:
        raise LostLease(f"run {lease.run_id}")
    first = rows[0]
    if (waited := first.locked_at - asked_at) > _LONG_WAIT:
        logger.warning("%s: its row was locked for %s", endpoint.name, waited)
    if not first.is_on:
        raise Problem(_("%s is switched off.") % endpoint)
    if first.rests:
        raise Rest(first.blocked_why, until=first.blocked_until, waits_for=endpoint.pk)
    numbered = {row.call: row for row in rows if row.attempt is not None}
    if not numbered:
        raise Rest(_("%s has no place free.") % endpoint, waits_for=endpoint.pk)
    tries = []
    for call in calls[: len(numbered)]:
        row = numbered[call.key]
        call.fence, call._state.adding = lease.fence, False
        tries.append(
            Attempt(pk=row.attempt, call=call, number=row.number, fence=lease.fence, started_at=now)
        )
    return Admission(tries, tell_others=first.free > len(tries) and first.everybody > 0)


def lock_and_admit(endpoint_id: int, values: dict[str, Any]) -> tuple[datetime, list[Row]]:
    """Both in one round trip, and outside a transaction in one of their own, which the server commits by itself.

    Returns when the lock was asked for, by the database's clock, and the rows; each says when it was had.
    """
    connection.ensure_connection()
    with (
        connection.wrap_database_errors,
        connection.cursor() as locking,
        connection.cursor() as admitting,
    ):
        with connection.connection.pipeline():
            locking.execute(_LOCK, [endpoint_id])
            # A statement of its own: only then does it see what others noted while it waited for the lock.
            admitting.execute(_ADMIT, values)
        (asked_at,) = locking.fetchone()
        return asked_at, [Row(*row) for row in admitting.fetchall()]


def _asked(call: ModelCall) -> dict[str, object]:
    return {
        "key": call.key,
        "stage": call.stage,
        "round": call.round,
        "sample": call.sample,
        "model": call.model,
        "prompt": call.prompt,
        "prompt_version": call.prompt_version,
        "request": call.request,
        "created_at": call.created_at.isoformat(),
    }
