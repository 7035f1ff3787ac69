"""A look says what was looked at, and in which state the campaign was then."""

from django.db import migrations, models

WHAT = [
    ("report", "the report"),
    ("threats", "threats to validity"),
    ("pairs", "pairs of reviewers"),
    ("items", "items behind a figure"),
    ("snapshot", "a snapshot"),
    ("export", "an export"),
]
STATES = [
    ("setup", "Being set up"),
    ("pilot", "Pilot"),
    ("open", "Open"),
    ("paused", "Paused"),
    ("closed", "Closed"),
]


class Migration(migrations.Migration):
    dependencies = [("review", "0022_family_of_p_values")]

    operations = [
        migrations.AddField(
            model_name="reportlook",
            name="what",
            field=models.CharField(
                choices=WHAT, db_default="report", default="report", max_length=8
            ),
        ),
        migrations.AddField(
            model_name="reportlook",
            name="state",
            field=models.CharField(
                blank=True, choices=STATES, db_default="", default="", max_length=6
            ),
        ),
    ]
