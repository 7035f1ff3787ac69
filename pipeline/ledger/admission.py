"""Admit calls to an endpoint up to its limit, in order of priority.

A slot (`place`) is a number from 1 to the endpoint's limit. An attempt occupies a slot from start to end. A unique
index prevents two open attempts from occupying the same slot, so the limit applies to any number of concurrent workers
without waiting. A single SQL statement, in its own transaction, finds the next runs and records the attempts. It locks
only the run (see docs/decisions, order of locks).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db import connection
from django.db.models import Q
from django.utils.translation import gettext as _

from core.database.clock import database_now
from pipeline.ledger.capacity import CAMPAIGN_TURN, IN_FLIGHT, KEPT, RunMustWait, take_back_places
from pipeline.models import Attempt, Endpoint, ModelCall
from pipeline.scheduling.run_leases import Lease, LostLease
from pipeline.types import Problem

# How often a run retries after losing a slot to a concurrent run. After that, the run waits for its turn.
_TIMES = 5

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
), place AS (
    SELECT place, row_number() OVER () AS position
    FROM (
        SELECT place
        FROM (
            SELECT one.place FROM endpoint, generate_series(1, max_in_flight) AS one (place)
            WHERE NOT EXISTS (
                SELECT FROM pipeline_attempt AS attempt
                WHERE attempt.endpoint_id = %(endpoint)s AND attempt.place = one.place
                    AND attempt.ended_at IS NULL
            )
            OFFSET 0 -- or taken ones would be locked too
        ) AS free
        -- Passes over what somebody is taking at this moment. What was taken since this statement began is
        -- left out by the index below.
        WHERE pg_try_advisory_xact_lock(
            hashtextextended(format('place %%s at endpoint %%s', place, %(endpoint)s), 0)
        )
        -- Without a lease nothing is admitted; a limit of null would be none.
        LIMIT coalesce((SELECT given FROM admitted), 0)
    ) AS taken
), asked AS (
    SELECT one.*, place.place
    FROM jsonb_to_recordset(%(calls)s::jsonb) AS one (
        position int, key text, stage text, round int, sample int, model text, prompt text,
        prompt_version text, request jsonb, masked jsonb, created_at timestamptz
    )
    JOIN place USING (position)
), noted AS (
    INSERT INTO pipeline_attempt (
        call_id, number, fence, endpoint_id, place, started_at, outcome, error_type, message,
        request_id, possibly_billed, input_tokens, output_tokens, cache_read_tokens,
        cache_write_tokens, thinking_tokens
    )
    SELECT key, (SELECT coalesce(max(number), 0) + 1 FROM pipeline_attempt WHERE call_id = key),
        %(fence)s, %(endpoint)s, place, %(now)s, '', '', '', '', false, 0, 0, 0, 0, 0
    FROM asked
    ON CONFLICT (endpoint_id, place) WHERE ended_at IS NULL AND place IS NOT NULL DO NOTHING
    RETURNING id, number, call_id
), called AS (
    INSERT INTO pipeline_modelcall (
        key, run_id, refinement_id, stage, round, sample, endpoint_id, model, prompt,
        prompt_version, request, masked, state, fence, outcome, created_at
    )
    SELECT key, %(run)s, %(refinement)s, stage, round, sample, %(endpoint)s, model, prompt,
        prompt_version, request, masked, 'open', %(fence)s, '', created_at
    FROM asked JOIN noted ON noted.call_id = asked.key
    ON CONFLICT (key) DO UPDATE SET fence = excluded.fence
), came AS (
    UPDATE pipeline_run AS run SET waits_for_id = NULL
    FROM held
    WHERE run.id = held.id AND held.waits_for_id IS NOT NULL AND EXISTS (SELECT FROM noted)
)
SELECT endpoint.is_on, endpoint.rests, endpoint.blocked_until, endpoint.blocked_why,
    held.batch_id IS NOT NULL
        AND coalesce(endpoint.campaign_call_at <= statement_timestamp() - %(turn)s / 10, true)
        AS begins_turn,
    admitted.free, admitted.given, waiting.everybody, clock_timestamp() - statement_timestamp(),
    noted.id, noted.number, noted.call_id
FROM admitted CROSS JOIN held CROSS JOIN endpoint CROSS JOIN waiting LEFT JOIN noted ON true
"""


@dataclass(frozen=True)
class Admission:
    """The recorded attempts for the first calls, and whether other runs can also get a slot."""

    tries: list[Attempt]
    tell_others: bool


class Row(NamedTuple):
    """A result row of `_ADMIT`: one row per attempt, or a single row without an attempt."""

    is_on: bool
    rests: bool
    blocked_until: datetime | None
    blocked_why: str
    begins_turn: bool
    free: int
    given: int
    everybody: int
    took: timedelta  # time in the database, including waits
    attempt: int | None
    number: int
    call: str


def admit(lease: Lease, endpoint: Endpoint, calls: Sequence[ModelCall]) -> Admission:
    """Record and commit an attempt for at least one of a run's calls, and create missing call rows.

    Raises RunMustWait if no slot is free or other runs come first, Problem if the endpoint is off, and LostLease. In
    these cases, no attempt is recorded. Call this function outside a transaction, because otherwise other runs would
    skip these slots and wait for this run.
    """
    now = database_now()
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
        "calls": json.dumps([_asked(call) | {"position": at} for at, call in enumerate(calls, 1)]),
    }
    for _time in range(_TIMES):
        rows = ask_for_places(values)
        if not rows:
            raise LostLease(f"run {lease.run_id}")
        first = rows[0]
        if not first.is_on:
            raise Problem(_("%s is off.") % endpoint)
        if first.rests:
            raise RunMustWait(first.blocked_why, until=first.blocked_until, waits_for=endpoint.pk)
        numbered = {row.call: row for row in rows if row.attempt is not None}
        if numbered or not first.given:
            break
        # A concurrent run took the slots, or calls of lost workers still occupy them.
        take_back_places(endpoint.pk)
    if not numbered:
        raise RunMustWait(
            _("%s has reached its limit of concurrent calls.") % endpoint, waits_for=endpoint.pk
        )
    if first.begins_turn:
        _note_campaign_call(endpoint)
    tries = []
    for call in calls:
        if call.key in numbered:
            row = numbered[call.key]
            call.fence, call._state.adding = lease.fence, False
            tries.append(
                Attempt(
                    pk=row.attempt,
                    call=call,
                    number=row.number,
                    fence=lease.fence,
                    started_at=now,
                )
            )
    return Admission(tries, tell_others=first.free > len(tries) and first.everybody > 0)


def ask_for_places(values: dict[str, Any]) -> list[Row]:
    """Execute the statement. Outside a transaction, it commits immediately. Without a lease, it returns no row."""
    with connection.cursor() as cursor:
        cursor.execute(_ADMIT, values)
        return [Row(*row) for row in cursor.fetchall()]


def _note_campaign_call(endpoint: Endpoint) -> None:
    """Record that a campaign had its turn. This is a separate query, because the endpoint is locked before the run."""
    now = database_now()
    Endpoint.objects.filter(
        Q(campaign_call_at=None) | Q(campaign_call_at__lte=now - CAMPAIGN_TURN / 10), pk=endpoint.pk
    ).update(campaign_call_at=now)


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
        "masked": call.masked,
        "created_at": call.created_at.isoformat(),
    }
