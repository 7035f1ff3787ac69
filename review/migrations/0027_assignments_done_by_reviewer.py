"""What a reviewer did lately is found without reading all that they ever did.

Built beside the work of others: in a large study they would wait for minutes. Where that was broken off, PostgreSQL
keeps an index of this name that is not valid; whoever migrates again gets rid of it first.
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
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS assignment_done_by_reviewer",
            migrations.RunSQL.noop,
        ),
        AddIndexConcurrently(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("state", "submitted")),
                fields=["reviewer", "ended_at"],
                name="assignment_done_by_reviewer",
            ),
        ),
    ]
