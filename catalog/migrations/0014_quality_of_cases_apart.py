"""How good cases are is measured apart from results, later."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalog", "0013_labels_of_confirmed_matches")]

    operations = [
        migrations.RemoveConstraint(model_name="caserun", name="case_run_once_at_a_time"),
        migrations.AddField(
            model_name="execution",
            name="quality_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="caserun",
            name="purpose",
            field=models.CharField(
                choices=[
                    ("asked", "Asked for"),
                    ("cases", "New cases"),
                    ("draft", "A draft"),
                    ("edited", "A new version"),
                    ("verified", "Verified"),
                    ("merged", "Merged"),
                    ("nightly", "Nightly"),
                    ("environment", "A changed environment"),
                    ("quality", "Quality of cases"),
                ],
                max_length=11,
            ),
        ),
        migrations.AddConstraint(
            model_name="caserun",
            constraint=models.UniqueConstraint(
                condition=models.Q(
                    ("state__in", ["waiting", "running"]),
                    models.Q(("purpose", "quality"), _negated=True),
                ),
                fields=("script_sha256", "case_set"),
                name="case_run_once_at_a_time",
            ),
        ),
        migrations.AddConstraint(
            model_name="caserun",
            constraint=models.UniqueConstraint(
                condition=models.Q(("purpose", "quality"), ("state__in", ["waiting", "running"])),
                fields=("script_sha256", "case_set"),
                name="case_run_quality_once_at_a_time",
            ),
        ),
    ]
