"""A wording has an author, and somebody who confirmed it."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def _person() -> models.ForeignKey:
    return models.ForeignKey(
        blank=True,
        db_index=False,
        null=True,
        on_delete=django.db.models.deletion.PROTECT,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0002_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(model_name="phrasing", name="added_by", field=_person()),
        migrations.AddField(
            model_name="phrasing",
            name="confirmed_at",
            field=models.DateTimeField(
                blank=True, editable=False, null=True, verbose_name="confirmed"
            ),
        ),
        migrations.AddField(model_name="phrasing", name="confirmed_by", field=_person()),
        migrations.AddField(
            model_name="phrasing",
            name="self_confirmed",
            field=models.BooleanField(
                db_default=False, default=False, verbose_name="confirmed by its author"
            ),
        ),
        migrations.AddField(
            model_name="merge",
            name="confirmations",
            field=models.JSONField(
                db_default=models.Value({}, models.JSONField()),
                default=dict,
            ),
        ),
    ]
