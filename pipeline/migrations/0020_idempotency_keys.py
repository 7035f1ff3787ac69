"""Add the idempotency keys of programs that request scripts."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("pipeline", "0019_larger_model_writes_in_peer_review"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            "IdempotencyKey",
            [
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("key", models.CharField(max_length=255)),
                ("body", models.CharField(max_length=64)),
                ("response", models.JSONField(default=dict)),
                ("at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
                (
                    "action",
                    models.ForeignKey(
                        "pipeline.action",
                        django.db.models.deletion.CASCADE,
                        null=True,
                        related_name="+",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        settings.AUTH_USER_MODEL,
                        django.db.models.deletion.CASCADE,
                        related_name="+",
                    ),
                ),
            ],
            {
                "constraints": [
                    models.UniqueConstraint(fields=("user", "key"), name="idempotency_key_once")
                ]
            },
        ),
    ]
