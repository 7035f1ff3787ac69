"""Cases that reviewers struck, corrected or added, and why execution and experts differ."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0011_revisions_and_imports"),
        ("pipeline", "0013_action_seen_status"),
        ("review", "0020_plan"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="CaseRevision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("struck", "Struck"),
                            ("corrected", "Corrected"),
                            ("added", "Added"),
                        ],
                        max_length=9,
                        verbose_name="what was done",
                    ),
                ),
                ("what", models.TextField(verbose_name="which case or check")),
                ("reason", models.TextField(verbose_name="reason")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("imported", models.BooleanField(default=False)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "case_set",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="revisions",
                        to="catalog.caseset",
                    ),
                ),
                (
                    "former",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="catalog.caseset",
                    ),
                ),
                (
                    "merged",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="catalog.caseset",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="case_revisions",
                        to="review.item",
                    ),
                ),
                (
                    "root",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="catalog.caseset",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["struck", "corrected", "added"])),
                        name="case_revision_kind_legal",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="CampaignCaseSet",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "case",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="case_sets",
                        to="review.case",
                    ),
                ),
                (
                    "case_set",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="counted_for",
                        to="catalog.caseset",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("case", "case_set"), name="campaign_case_set_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ImportedResult",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="review.campaign",
                    ),
                ),
                (
                    "execution",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="catalog.execution",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("campaign", "execution"), name="imported_result_once_a_campaign"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ExecutionLabel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "stage",
                    models.CharField(
                        choices=[("script", "Script"), ("refined", "Refined")],
                        max_length=7,
                        verbose_name="stage",
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("case_wrong", "Case wrong"),
                            ("interpretation", "Interpretation"),
                            ("output_too_strict", "Output too strict"),
                            ("world_unlike_reality", "World unlike reality"),
                            ("script_wrong", "Script wrong after all"),
                        ],
                        max_length=20,
                        verbose_name="why they differ",
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("current", models.BooleanField(default=True)),
                ("imported", models.BooleanField(default=False)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "draft",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pipeline.draft",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="execution_labels",
                        to="review.item",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("current", True)),
                        fields=("item", "by", "stage"),
                        name="execution_label_one_current",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("stage__in", ["script", "refined"])),
                        name="execution_label_stage_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "reason__in",
                                [
                                    "",
                                    "case_wrong",
                                    "interpretation",
                                    "output_too_strict",
                                    "world_unlike_reality",
                                    "script_wrong",
                                ],
                            )
                        ),
                        name="execution_label_reason_legal",
                    ),
                ],
            },
        ),
    ]
