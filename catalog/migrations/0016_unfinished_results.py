"""What comes before the quality of cases is found without visiting all that waits for it."""

from __future__ import annotations

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("catalog", "0015_mark_measured_quality")]

    operations = [
        migrations.AddIndex(
            model_name="caserun",
            index=models.Index(
                fields=["id"],
                condition=Q(state__in=["waiting", "running"]) & ~Q(purpose="quality"),
                name="case_run_result_unfinished",
            ),
        ),
    ]
