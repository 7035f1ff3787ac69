"""What an import changed is noted as due in spans of keys, instead of a row for each item."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("review", "0009_by_item_and_reviewer"),
    ]

    operations = [
        migrations.AddField(
            model_name="tallydue",
            name="first",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="tallydue",
            name="last",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="tallydue",
            name="item",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="review.item",
            ),
        ),
        migrations.AddConstraint(
            model_name="tallydue",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("first", None), ("item__isnull", False), ("last", None)),
                    models.Q(("first__isnull", False), ("item", None), ("last__isnull", False)),
                    _connector="OR",
                ),
                name="tally_due_item_or_span",
            ),
        ),
    ]
