import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("review", "0028_study_examples_off")]

    operations = [
        migrations.CreateModel(
            name="ReportPart",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=12)),
                ("state", models.TextField()),
                ("at", models.DateTimeField()),
                ("seconds", models.FloatField()),
                ("data", models.JSONField()),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="report_parts",
                        to="review.campaign",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("campaign", "name"), name="report_part_once")
                ],
            },
        ),
        migrations.AddIndex(
            model_name="case",
            index=models.Index(
                condition=models.Q(("purpose", "real"), _negated=True),
                fields=["purpose", "campaign"],
                name="case_not_real",
            ),
        ),
    ]
