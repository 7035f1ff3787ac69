"""What most cases have none of is in an index where there is one."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("pipeline", "0010_indexes_of_what_is_there"),
        ("review", "0010_tally_due_spans"),
    ]

    operations = [
        migrations.AlterField(
            model_name="case",
            name="repeats",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="repeated_by",
                to="review.case",
            ),
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(
                condition=models.Q(("repeats__isnull", False)),
                fields=["repeats"],
                name="case_repeats",
            ),
        ),
    ]
