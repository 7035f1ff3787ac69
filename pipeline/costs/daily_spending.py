"""Daily sums of spending, updated as attempts end and repaired by a recount.

The same SQL counts new attempts and recounts all attempts, so that the results agree.
"""

from __future__ import annotations

from collections.abc import Sequence

from django.db import connection, transaction

from pipeline.models import Spending

COUNT_TRIES = """
INSERT INTO pipeline_spending AS kept (
    day, endpoint_id, model, configuration_id, batch_id, stage, attempts, answered, possibly_billed,
    unpriced, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost, milliseconds
)
SELECT
    (attempt.ended_at AT TIME ZONE 'UTC')::date, call.endpoint_id, call.model,
    run.configuration_id, run.batch_id, call.stage,
    count(*),
    count(*) FILTER (WHERE attempt.outcome = 'answered'),
    count(*) FILTER (WHERE attempt.possibly_billed),
    count(*) FILTER (WHERE attempt.outcome = 'answered' AND attempt.cost IS NULL),
    sum(attempt.input_tokens), sum(attempt.output_tokens),
    sum(attempt.cache_read_tokens), sum(attempt.cache_write_tokens),
    coalesce(sum(attempt.cost), 0), coalesce(sum(attempt.milliseconds), 0)
FROM {tries} AS attempt
JOIN pipeline_modelcall call ON call.key = attempt.call_id
JOIN pipeline_run run ON run.id = call.run_id
WHERE attempt.ended_at IS NOT NULL {narrowed}
GROUP BY 1, 2, 3, 4, 5, 6
-- Rows are locked in this order by every writer, so that no two wait for each other.
ORDER BY 1, 2, 3, 4, 5, 6
ON CONFLICT ON CONSTRAINT spending_once_a_day_and_what DO UPDATE SET
    attempts = kept.attempts + excluded.attempts,
    answered = kept.answered + excluded.answered,
    possibly_billed = kept.possibly_billed + excluded.possibly_billed,
    unpriced = kept.unpriced + excluded.unpriced,
    input_tokens = kept.input_tokens + excluded.input_tokens,
    output_tokens = kept.output_tokens + excluded.output_tokens,
    cache_read_tokens = kept.cache_read_tokens + excluded.cache_read_tokens,
    cache_write_tokens = kept.cache_write_tokens + excluded.cache_write_tokens,
    cost = kept.cost + excluded.cost,
    milliseconds = kept.milliseconds + excluded.milliseconds
"""


def add_spending(attempts: Sequence[int]) -> None:
    """Add these attempts to the daily sums. This transaction must have ended them, and no sum may include them yet.

    Call this function last in the transaction, because it locks rows that every worker updates.
    """
    if attempts:
        with connection.cursor() as cursor:
            cursor.execute(
                COUNT_TRIES.format(tries="pipeline_attempt", narrowed="AND attempt.id = ANY(%s)"),
                [list(attempts)],
            )


@transaction.atomic
def recount_spending() -> int:
    """Recount all ended attempts and return the number of rows that were wrong, missing or superfluous.

    Readers see the old rows until the new rows are complete. Workers that end an attempt wait for the recount.
    """
    with connection.cursor() as cursor:
        # Workers that count attempts commit before this lock or wait for it, so each attempt is counted once.
        cursor.execute("LOCK TABLE pipeline_spending IN EXCLUSIVE MODE")
        before = _rows()
        cursor.execute("DELETE FROM pipeline_spending")
        cursor.execute(COUNT_TRIES.format(tries="pipeline_attempt", narrowed=""))
    return len({row[:6] for row in before ^ _rows()})


def _rows() -> set[tuple[object, ...]]:
    """Return all rows, each with its six key columns followed by its sums."""
    return set(
        Spending.objects.order_by().values_list(
            "day",
            "endpoint_id",
            "model",
            "configuration_id",
            "batch_id",
            "stage",
            "attempts",
            "answered",
            "possibly_billed",
            "unpriced",
            "input_tokens",
            "output_tokens",
            "cache_read_tokens",
            "cache_write_tokens",
            "cost",
            "milliseconds",
        )
    )
