"""A case set says by which prompt a model wrote it, and which one it is a new state of."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0009_execution_evidence"),
    ]

    operations = [
        migrations.AddField(
            model_name="caseset",
            name="prompt_version",
            field=models.CharField(blank=True, db_default="", max_length=12),
        ),
        migrations.AddField(
            model_name="caseset",
            name="withdrawn_at",
            field=models.DateTimeField(blank=True, editable=False, null=True),
        ),
        migrations.AddField(
            model_name="caseset",
            name="replaces",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="replaced_by",
                to="catalog.caseset",
            ),
        ),
    ]
