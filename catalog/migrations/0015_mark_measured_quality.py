"""Results that are there had the quality of their cases measured with them.

Apart from the new column: the table is not locked while its rows are written.
"""

from __future__ import annotations

from django.db import migrations
from django.db.migrations.state import StateApps
from django.db.models import F


def mark_measured(apps: StateApps, _editor: object) -> None:
    """Until now it was measured with the result, where it was at all."""
    found = apps.get_model("catalog", "Execution").objects.filter(quality_at=None)
    found.update(quality_at=F("first_at"))


class Migration(migrations.Migration):
    dependencies = [("catalog", "0014_quality_of_cases_apart")]

    operations = [migrations.RunPython(mark_measured, migrations.RunPython.noop)]
