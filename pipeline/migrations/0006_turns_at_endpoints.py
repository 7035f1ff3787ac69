"""What a run waits for and when the workers were told of it; when a campaign last had its turn."""

from __future__ import annotations

from django.db import migrations, models
from django.db.models import SET_NULL, Q


class Migration(migrations.Migration):
    dependencies = [("pipeline", "0005_fill_spending")]

    operations = [
        migrations.AddField(
            "endpoint",
            "campaign_call_at",
            models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            "run",
            "waits_for",
            models.ForeignKey(
                blank=True,
                db_index=False,
                editable=False,
                null=True,
                on_delete=SET_NULL,
                related_name="waiting_runs",
                to="pipeline.endpoint",
            ),
        ),
        migrations.AddField(
            "run",
            "told_at",
            models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddIndex(
            "run",
            models.Index(
                condition=Q(("waits_for__isnull", False)), fields=["waits_for"], name="run_waiting"
            ),
        ),
    ]
