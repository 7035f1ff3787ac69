"""Who was shown which verdict; and the queue in the order in which things were asked for."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [
        ("review", "0012_what_goes_with_a_decision"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Exposure",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "what",
                    models.CharField(
                        choices=[
                            ("run", "A run with its verdict"),
                            ("items", "A list of items by their verdicts"),
                            ("file", "An export"),
                        ],
                        max_length=5,
                    ),
                ),
                ("where", models.CharField(max_length=100)),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "campaign",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="exposures",
                        to="review.campaign",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="exposures",
                        to="pipeline.run",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=Q(run__isnull=False),
                        fields=("run", "person"),
                        name="exposure_once_a_run",
                    ),
                    models.UniqueConstraint(
                        condition=Q(campaign__isnull=False),
                        fields=("campaign", "person"),
                        name="exposure_once_a_campaign",
                    ),
                    models.CheckConstraint(
                        condition=Q(run__isnull=False, campaign=None)
                        | Q(run=None, campaign__isnull=False),
                        name="exposure_of_one_thing",
                    ),
                    models.CheckConstraint(
                        condition=Q(what__in=["run", "items", "file"]), name="exposure_what_legal"
                    ),
                ],
            },
        ),
        migrations.RemoveIndex("item", "item_claim_priority"),
        migrations.AddIndex(
            "item",
            models.Index(
                fields=["campaign", "-priority", "run"],
                name="item_claim_priority",
                condition=Q(state="open", places__gt=0),
            ),
        ),
    ]
