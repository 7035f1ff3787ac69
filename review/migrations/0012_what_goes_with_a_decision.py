"""What was picked and typed beside a decision, and the scores that were stored with it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("review", "0011_indexes_of_what_is_there"),
    ]

    operations = [
        migrations.AddField(
            model_name="decision",
            name="picked",
            field=models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
        migrations.AddField(
            model_name="decision",
            name="scores",
            field=models.JSONField(db_default=models.Value([], models.JSONField()), default=list),
        ),
    ]
