"""The comparisons that Holm's correction is over are fixed when a campaign opens."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("review", "0021_what_experts_say_of_cases")]

    operations = [
        migrations.AddField(
            model_name="campaign",
            name="p_family",
            field=models.JSONField(blank=True, null=True, verbose_name="family of p values"),
        ),
    ]
