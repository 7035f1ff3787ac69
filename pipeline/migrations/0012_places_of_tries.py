"""A try holds a numbered place at its endpoint while it is open; those under way have none, and are counted only."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("pipeline", "0011_workers")]

    operations = [
        migrations.AddField(
            model_name="attempt",
            name="endpoint",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="pipeline.endpoint",
            ),
        ),
        migrations.AddField(
            model_name="attempt",
            name="place",
            field=models.PositiveSmallIntegerField(editable=False, null=True),
        ),
        migrations.AddConstraint(
            model_name="attempt",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at", None), ("place__isnull", False)),
                fields=("endpoint", "place"),
                name="attempt_place_held_once",
            ),
        ),
    ]
