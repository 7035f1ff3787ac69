"""What is done with secrets where texts leave this machine, and matches that an assessor confirmed."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0013_labels_of_confirmed_matches"),
        ("pipeline", "0014_cases_in_runs"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="EntryDescription",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("script_sha256", models.CharField(max_length=64)),
                ("endpoint", models.SlugField()),
                ("model", models.CharField(max_length=100)),
                ("prompt_version", models.CharField(max_length=12)),
                ("text", models.TextField()),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.AddField(
            model_name="configuration",
            name="confirms_matches",
            field=models.BooleanField(
                db_default=False, default=False, verbose_name="lets the assessor confirm a match"
            ),
        ),
        migrations.AddField(
            model_name="endpoint",
            name="treat_as_remote",
            field=models.BooleanField(
                db_default=False, default=False, verbose_name="treat as remote"
            ),
        ),
        migrations.AddField(
            model_name="modelcall",
            name="masked",
            field=models.JSONField(db_default=models.Value([], models.JSONField()), default=list),
        ),
        migrations.AddField(
            model_name="retrievedmatch",
            name="confirmable",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddField(
            model_name="run",
            name="match_confirmed_by",
            field=models.CharField(
                blank=True,
                db_default="",
                default="",
                max_length=100,
                verbose_name="match confirmed by",
            ),
        ),
        migrations.AddField(
            model_name="run",
            name="secrets",
            field=models.CharField(
                choices=[("mask", "Mask"), ("send", "Send")],
                db_default="mask",
                default="mask",
                max_length=4,
                verbose_name="secrets in its texts",
            ),
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.CheckConstraint(
                condition=models.Q(("secrets__in", ["mask", "send"])), name="run_secrets_legal"
            ),
        ),
        migrations.AddField(
            model_name="entrydescription",
            name="version",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="catalog.version",
            ),
        ),
        migrations.AddConstraint(
            model_name="entrydescription",
            constraint=models.UniqueConstraint(
                fields=("version", "script_sha256", "endpoint", "model", "prompt_version"),
                name="entry_description_once",
            ),
        ),
    ]
