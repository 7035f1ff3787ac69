"""A result of which any check was not run is incomplete: it no longer counts as one that passed or failed."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("catalog", "0016_unfinished_results")]

    operations = [
        migrations.RunSQL(
            """
            UPDATE catalog_execution SET state = 'not run', reason = first.got
            FROM (
                SELECT DISTINCT ON (execution_id) execution_id,
                    COALESCE(NULLIF(got, ''), 'A case was not run.') AS got
                FROM catalog_checkresult WHERE state = 'not run'
                ORDER BY execution_id, case_number, number
            ) AS first
            WHERE first.execution_id = catalog_execution.id AND state <> 'not run'
            """,
            migrations.RunSQL.noop,
        )
    ]
