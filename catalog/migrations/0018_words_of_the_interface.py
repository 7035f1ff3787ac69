"""Labels that pages and the admin show: a starting point, a wording. Nothing in the tables changes."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0017_incomplete_results"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="phrasing",
            options={
                "ordering": ["pk"],
                "verbose_name": "wording",
                "verbose_name_plural": "wordings",
            },
        ),
        migrations.AlterField(
            model_name="matchlabel",
            name="label",
            field=models.CharField(
                choices=[("match", "Match"), ("adapt", "Starting point"), ("no_match", "No match")],
                max_length=8,
                verbose_name="label",
            ),
        ),
        migrations.AlterField(
            model_name="threshold",
            name="adapt",
            field=models.FloatField(verbose_name="starting point from"),
        ),
    ]
