from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("pipeline", "0019_larger_model_writes_in_peer_review")]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("state", "failed")), fields=["id"], name="run_failed"
            ),
        ),
    ]
