"""Record whether pilot scores count and when the primary outcome was chosen."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("review", "0029_report_part"),
    ]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="pilot_counts",
            field=models.BooleanField(
                db_default=False, default=False, verbose_name="counts the scores of the pilot"
            ),
        ),
        migrations.AddField(
            model_name="campaign",
            name="primary_chosen",
            field=models.JSONField(blank=True, null=True, verbose_name="when it was chosen"),
        ),
    ]
