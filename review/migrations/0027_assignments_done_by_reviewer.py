"""What a reviewer did lately is found without reading all that they ever did."""

from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("review", "0026_world_unrealistic"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("state", "submitted")),
                fields=["reviewer", "ended_at"],
                name="assignment_done_by_reviewer",
            ),
        ),
    ]
