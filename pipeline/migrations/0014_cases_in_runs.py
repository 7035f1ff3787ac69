"""Configurations say whether cases are written; runs keep which they had; a draft may be refined from cases."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0010_cases_of_a_model"),
        ("pipeline", "0013_action_seen_status"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterModelOptions(name="rolesetting", options={"ordering": ["pk"]}),
        migrations.CreateModel(
            name="WrittenCases",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("model", models.CharField(max_length=100)),
                ("prompt_version", models.CharField(max_length=12)),
                ("answers", models.JSONField(default=list)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
            ],
            options={
                "verbose_name_plural": "written cases",
                "ordering": ["run", "number"],
            },
        ),
        migrations.RemoveConstraint(
            model_name="draft",
            name="draft_kind_legal",
        ),
        migrations.RemoveConstraint(
            model_name="rolesetting",
            name="role_legal",
        ),
        migrations.AddField(
            model_name="configuration",
            name="cases",
            field=models.CharField(
                choices=[
                    ("off", "Off: no cases are written"),
                    ("run", "Written from the statement, and run"),
                    ("feedback", "Run, and told to one more refinement"),
                ],
                db_default="off",
                default="off",
                max_length=8,
                verbose_name="cases in prepared worlds",
            ),
        ),
        migrations.AlterField(
            model_name="draft",
            name="kind",
            field=models.CharField(
                choices=[
                    ("retrieved", "Retrieved"),
                    ("generated", "Generated"),
                    ("repaired", "Repaired"),
                    ("refined", "Refined"),
                    ("revised", "Revised"),
                    ("edited", "Edited"),
                    ("imported", "Imported"),
                ],
                max_length=10,
            ),
        ),
        migrations.AlterField(
            model_name="rolesetting",
            name="role",
            field=models.CharField(
                choices=[
                    ("generator", "Generator"),
                    ("assessor", "Assessor"),
                    ("refiner", "Refiner"),
                    ("case_author", "Case author"),
                ],
                max_length=12,
                verbose_name="role",
            ),
        ),
        migrations.AddConstraint(
            model_name="configuration",
            constraint=models.CheckConstraint(
                condition=models.Q(("cases__in", ["off", "run", "feedback"])),
                name="configuration_cases_legal",
            ),
        ),
        migrations.AddConstraint(
            model_name="draft",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    (
                        "kind__in",
                        [
                            "retrieved",
                            "generated",
                            "repaired",
                            "refined",
                            "revised",
                            "edited",
                            "imported",
                        ],
                    )
                ),
                name="draft_kind_legal",
            ),
        ),
        migrations.AddConstraint(
            model_name="rolesetting",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("role__in", ["generator", "assessor", "refiner", "case_author"])
                ),
                name="role_legal",
            ),
        ),
        migrations.AddField(
            model_name="writtencases",
            name="case_set",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT, related_name="+", to="catalog.caseset"
            ),
        ),
        migrations.AddField(
            model_name="writtencases",
            name="run",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="written_cases",
                to="pipeline.run",
            ),
        ),
        migrations.AddConstraint(
            model_name="writtencases",
            constraint=models.UniqueConstraint(
                fields=("run", "number"), name="written_cases_number_once"
            ),
        ),
    ]
