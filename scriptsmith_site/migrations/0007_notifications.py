import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("scriptsmith_site", "0006_outbox"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Door",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=40, unique=True)),
                ("last_success_at", models.DateTimeField(blank=True, null=True)),
                ("last_error_at", models.DateTimeField(blank=True, null=True)),
                ("last_error", models.CharField(blank=True, max_length=300)),
            ],
        ),
        migrations.CreateModel(
            name="Notification",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("kind", models.CharField(max_length=20)),
                ("model", models.CharField(max_length=60)),
                ("object_id", models.BigIntegerField()),
                ("at", models.DateTimeField(default=django.utils.timezone.now, editable=False)),
                ("in_bell", models.BooleanField(default=True)),
                ("read_at", models.DateTimeField(blank=True, null=True)),
                ("mail_at", models.DateTimeField(blank=True, null=True)),
                ("mailed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "event",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="scriptsmith_site.event",
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notifications",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="NotificationChoices",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("ways", models.JSONField(blank=True, default=dict)),
                (
                    "mail_address",
                    models.EmailField(blank=True, max_length=254, verbose_name="e-mail address"),
                ),
                ("letters", models.PositiveSmallIntegerField(default=0)),
                ("letters_since", models.DateTimeField(blank=True, null=True)),
                ("confirmed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "digest",
                    models.CharField(
                        choices=[
                            ("at-once", "At once"),
                            ("hourly", "Once an hour"),
                            ("daily", "Once a day"),
                        ],
                        default="at-once",
                        max_length=8,
                        verbose_name="e-mails",
                    ),
                ),
                (
                    "daily_hour",
                    models.PositiveSmallIntegerField(default=8, verbose_name="hour of the day"),
                ),
                (
                    "quiet_from",
                    models.PositiveSmallIntegerField(
                        blank=True, null=True, verbose_name="quiet from"
                    ),
                ),
                (
                    "quiet_until",
                    models.PositiveSmallIntegerField(
                        blank=True, null=True, verbose_name="quiet until"
                    ),
                ),
                (
                    "person",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="notification_choices",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(fields=["person", "-id"], name="notification_of_person"),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(
                condition=models.Q(("in_bell", True), ("read_at", None)),
                fields=["person"],
                name="notification_unread",
            ),
        ),
        migrations.AddIndex(
            model_name="notification",
            index=models.Index(
                condition=models.Q(("mail_at__isnull", False)),
                fields=["mail_at"],
                name="notification_to_mail",
            ),
        ),
        migrations.AddConstraint(
            model_name="notification",
            constraint=models.UniqueConstraint(
                fields=("person", "event", "kind"), name="notification_once_an_event"
            ),
        ),
        migrations.AddConstraint(
            model_name="notificationchoices",
            constraint=models.CheckConstraint(
                condition=models.Q(("digest__in", ["at-once", "hourly", "daily"])),
                name="notification_digest_legal",
            ),
        ),
        migrations.AddConstraint(
            model_name="notificationchoices",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("daily_hour__lte", 23),
                    models.Q(("quiet_from", None), ("quiet_from__lte", 23), _connector="OR"),
                    models.Q(("quiet_until", None), ("quiet_until__lte", 23), _connector="OR"),
                ),
                name="notification_hours_of_a_day",
            ),
        ),
    ]
