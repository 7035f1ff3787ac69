from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("pipeline", "0020_idempotency_keys")]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("state", "failed")), fields=["id"], name="run_failed"
            ),
        ),
    ]
