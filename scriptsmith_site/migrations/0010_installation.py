import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("scriptsmith_site", "0009_agents"),
    ]

    operations = [
        migrations.CreateModel(
            name="DemoPassword",
            fields=[
                (
                    "user",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="demo_password",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("password", models.CharField(max_length=40, verbose_name="password")),
            ],
        ),
        migrations.CreateModel(
            name="Installation",
            fields=[
                (
                    "id",
                    models.PositiveSmallIntegerField(
                        default=1, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "secret_key_mark",
                    models.CharField(max_length=64, verbose_name="mark of the secret key"),
                ),
                (
                    "made_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False, verbose_name="since"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("id", 1)), name="installation_one_row"
                    )
                ],
            },
        ),
    ]
