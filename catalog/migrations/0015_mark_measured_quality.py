"""Results that are there had the quality of their cases measured with them, where it was at all.

Apart from the new column: the table is not locked while its rows are written.
"""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("catalog", "0014_quality_of_cases_apart")]

    operations = [
        migrations.RunSQL(
            "UPDATE catalog_execution SET quality_at = first_at WHERE quality_at IS NULL",
            migrations.RunSQL.noop,
        )
    ]
