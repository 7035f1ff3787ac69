"""Keys that most rows have none of are in an index where there is one: writing the others costs nothing for them."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("catalog", "0002_initial"),
        ("pipeline", "0002_endpoints_and_presets"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField(
            model_name="action",
            name="erased_by",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="draft",
            name="author",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="drafts",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.AlterField(
            model_name="draft",
            name="feedback",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="drafts",
                to="pipeline.feedback",
            ),
        ),
        migrations.AlterField(
            model_name="draft",
            name="parent",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="children",
                to="pipeline.draft",
            ),
        ),
        migrations.AlterField(
            model_name="draft",
            name="refinement",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="drafts",
                to="pipeline.refinement",
            ),
        ),
        migrations.AlterField(
            model_name="draft",
            name="version",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="drafts",
                to="catalog.version",
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="answered_by",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="answered_runs",
                to="catalog.version",
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="batch",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="runs",
                to="pipeline.batch",
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="follows",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="followed_by",
                to="pipeline.run",
            ),
        ),
        migrations.AlterField(
            model_name="run",
            name="recommended",
            field=models.ForeignKey(
                blank=True,
                db_index=False,
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="pipeline.draft",
            ),
        ),
        migrations.AddIndex(
            model_name="action",
            index=models.Index(
                condition=models.Q(("erased_by__isnull", False)),
                fields=["erased_by"],
                name="action_erased_by",
            ),
        ),
        migrations.AddIndex(
            model_name="draft",
            index=models.Index(
                condition=models.Q(("parent__isnull", False)),
                fields=["parent"],
                name="draft_parent",
            ),
        ),
        migrations.AddIndex(
            model_name="draft",
            index=models.Index(
                condition=models.Q(("feedback__isnull", False)),
                fields=["feedback"],
                name="draft_feedback",
            ),
        ),
        migrations.AddIndex(
            model_name="draft",
            index=models.Index(
                condition=models.Q(("refinement__isnull", False)),
                fields=["refinement"],
                name="draft_refinement",
            ),
        ),
        migrations.AddIndex(
            model_name="draft",
            index=models.Index(
                condition=models.Q(("version__isnull", False)),
                fields=["version"],
                name="draft_version",
            ),
        ),
        migrations.AddIndex(
            model_name="draft",
            index=models.Index(
                condition=models.Q(("author__isnull", False)),
                fields=["author"],
                name="draft_author",
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("batch__isnull", False)), fields=["batch"], name="run_batch"
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("follows__isnull", False)),
                fields=["follows"],
                name="run_follows",
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("answered_by__isnull", False)),
                fields=["answered_by"],
                name="run_answered_by",
            ),
        ),
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("recommended__isnull", False)),
                fields=["recommended"],
                name="run_recommended",
            ),
        ),
    ]
