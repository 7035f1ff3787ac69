"""Case sets that a review made from others, and results that came with a file."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("catalog", "0010_cases_of_a_model")]

    operations = [
        migrations.AddField(
            model_name="caseset",
            name="is_revision",
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
        migrations.AddField(
            model_name="execution",
            name="imported",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
