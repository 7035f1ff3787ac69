"""Lists other than the catalogue's have saved views, too; those there are belong to the catalogue's."""

from __future__ import annotations

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("catalog", "0018_words_of_the_interface"),
    ]

    operations = [
        migrations.AddField(
            model_name="savedview",
            name="listing",
            field=models.CharField(
                choices=[
                    ("catalog-list", "Catalogue"),
                    ("action-list", "Actions"),
                    ("queue", "Live queue"),
                    ("campaign-list", "Campaigns"),
                ],
                db_default="catalog-list",
                default="catalog-list",
                max_length=20,
                verbose_name="list",
            ),
        ),
        migrations.AlterField(
            model_name="savedview",
            name="user",
            field=models.ForeignKey(
                on_delete=models.deletion.CASCADE,
                related_name="saved_views",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AddConstraint(
            model_name="savedview",
            constraint=models.UniqueConstraint(
                fields=("user", "listing", "name"), name="saved_view_once_a_list"
            ),
        ),
        migrations.RemoveConstraint(model_name="savedview", name="saved_view_once_a_name"),
    ]
