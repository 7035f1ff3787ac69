import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0011_revisions_and_imports"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="OutcomeReport",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("token", models.CharField(max_length=80, verbose_name="token")),
                ("at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("worked", "Worked"),
                            ("no_effect", "No effect"),
                            ("worse", "Made it worse"),
                        ],
                        max_length=10,
                        verbose_name="outcome",
                    ),
                ),
                ("incident", models.CharField(blank=True, max_length=100, verbose_name="incident")),
                ("note", models.TextField(blank=True, verbose_name="note")),
                ("seen_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "seen_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="outcome_reports",
                        to="catalog.version",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("outcome", "worse"), ("seen_at", None)),
                        fields=["id"],
                        name="outcome_report_to_look_at",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("outcome__in", ["worked", "no_effect", "worse"])),
                        name="outcome_report_outcome_legal",
                    )
                ],
            },
        ),
    ]
