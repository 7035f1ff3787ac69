"""The daily sums of what was asked and paid before they were kept, counted from the ledger."""

from __future__ import annotations

from django.db import migrations

FILL = """
DELETE FROM pipeline_spending;
INSERT INTO pipeline_spending (
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
FROM pipeline_attempt attempt
JOIN pipeline_modelcall call ON call.key = attempt.call_id
JOIN pipeline_run run ON run.id = call.run_id
WHERE attempt.ended_at IS NOT NULL
GROUP BY 1, 2, 3, 4, 5, 6
"""


class Migration(migrations.Migration):
    dependencies = [("pipeline", "0004_nobody_asked_for_a_refinement")]
    operations = [migrations.RunSQL(FILL, migrations.RunSQL.noop)]
