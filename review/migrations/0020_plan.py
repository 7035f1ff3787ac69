"""What the number of items of a study was worked out from."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("review", "0017_looks_by_command")]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="plan",
            field=models.JSONField(blank=True, null=True, verbose_name="plan"),
        ),
    ]
