import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("scriptsmith_site", "0004_security_log")]

    operations = [
        migrations.CreateModel(
            name="BackupEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("backup", "Backup"),
                            ("restore", "Restore"),
                            ("drill", "Drill"),
                        ],
                        max_length=7,
                        verbose_name="kind",
                    ),
                ),
                (
                    "at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False, verbose_name="when"
                    ),
                ),
                ("file", models.CharField(max_length=300, verbose_name="file")),
                ("size", models.PositiveBigIntegerField(verbose_name="bytes")),
                ("encrypted", models.BooleanField(default=False, verbose_name="encrypted")),
                ("passed", models.BooleanField(default=True, verbose_name="passed")),
            ],
            options={
                "ordering": ["-at"],
                "indexes": [models.Index(fields=["kind", "-at"], name="backup_event_newest")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["backup", "restore", "drill"])),
                        name="backup_event_kind_legal",
                    )
                ],
            },
        ),
    ]
