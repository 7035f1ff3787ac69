"""What one reviewer has of one item is found by both: whatever else they did is not gone through."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("review", "0002_live_queue")]

    operations = [
        migrations.AddIndex(
            "assignment", models.Index(fields=["item", "reviewer"], name="assignment_of_item")
        ),
        migrations.AddIndex(
            "score", models.Index(fields=["item", "reviewer"], name="score_of_item")
        ),
        migrations.AlterField(
            "assignment",
            "item",
            models.ForeignKey(
                "review.item",
                django.db.models.deletion.CASCADE,
                db_index=False,
                related_name="assignments",
            ),
        ),
        migrations.AlterField(
            "score",
            "item",
            models.ForeignKey(
                "review.item",
                django.db.models.deletion.CASCADE,
                db_index=False,
                related_name="scores",
            ),
        ),
    ]
