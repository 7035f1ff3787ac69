"""Labels say whether a model had confirmed the match that they are about."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalog", "0012_outcome_reports")]

    operations = [
        migrations.AddField(
            model_name="matchlabel",
            name="confirmed_by",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                max_length=100,
                verbose_name="match confirmed by",
            ),
        ),
    ]
