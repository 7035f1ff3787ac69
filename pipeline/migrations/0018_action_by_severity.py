"""The list of actions can be sorted by severity."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("pipeline", "0017_sent_secrets")]

    operations = [
        migrations.AddIndex(
            model_name="action",
            index=models.Index(fields=["severity", "-id"], name="action_most_severe"),
        ),
    ]
