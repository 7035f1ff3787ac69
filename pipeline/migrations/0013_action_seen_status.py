"""Whoever asked is told what changed since they looked; actions from before have nothing to compare with."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("pipeline", "0012_places_of_tries")]

    operations = [
        migrations.AddField(
            model_name="action",
            name="seen_status",
            field=models.CharField(
                blank=True, db_default="", default="", editable=False, max_length=10
            ),
        ),
    ]
