"""What a reviewer did lately is found without reading all that they ever did.

Built beside the work of others: in a large study they would wait for minutes. Where it was broken off, PostgreSQL keeps
an index that is not valid; drop it and migrate again.
"""

from django.conf import settings
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("review", "0026_world_unrealistic"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("state", "submitted")),
                fields=["reviewer", "ended_at"],
                name="assignment_done_by_reviewer",
            ),
        ),
    ]
