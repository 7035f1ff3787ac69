"""The catalogue's tables."""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
import django.db.models.functions.text
import django.utils.timezone
import pgvector.django.vector
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "__first__"),
        ("catalog", "0001_extensions"),
    ]

    operations = [
        migrations.CreateModel(
            name="Tag",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.SlugField(unique=True, verbose_name="name")),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.CreateModel(
            name="EmbeddingModel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=100, unique=True, verbose_name="name")),
                ("spec", models.CharField(max_length=200, verbose_name="setting")),
                ("dimension", models.PositiveIntegerField(verbose_name="dimension")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("building", "Building"),
                            ("current", "Current"),
                            ("retired", "Retired"),
                        ],
                        default="building",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False, verbose_name="created"
                    ),
                ),
                (
                    "trouble",
                    models.TextField(
                        blank=True, db_default="", default="", verbose_name="what is wrong"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "current")),
                        fields=("state",),
                        name="embedding_model_one_current",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["building", "current", "retired"])),
                        name="embedding_model_state_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("dimension__gte", 1), ("dimension__lte", 2000)),
                        name="embedding_model_dimension_indexable",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Entry",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("slug", models.SlugField(max_length=80, unique=True, verbose_name="slug")),
                ("title", models.CharField(max_length=300, verbose_name="title")),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False, verbose_name="created"
                    ),
                ),
                (
                    "suspended_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="suspended"),
                ),
                ("suspended_why", models.TextField(blank=True, verbose_name="why suspended")),
                (
                    "document",
                    django.contrib.postgres.search.SearchVectorField(editable=False, null=True),
                ),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "merged_into",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="merged",
                        to="catalog.entry",
                    ),
                ),
                (
                    "suspended_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("compared_at", models.DateTimeField(blank=True, editable=False, null=True)),
            ],
            options={
                "verbose_name_plural": "entries",
                "ordering": ["-pk"],
                "permissions": [
                    ("curate", "Can verify, edit, merge and deprecate entries"),
                    ("use_unreviewed", "Can use an unreviewed script with a reason"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("merged_into", None),
                            models.Q(("merged_into", models.F("pk")), _negated=True),
                            _connector="OR",
                        ),
                        name="entry_not_merged_into_itself",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("suspended_at", None),
                            models.Q(("suspended_why", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="entry_suspended_says_why",
                    ),
                ],
                "indexes": [
                    django.contrib.postgres.indexes.GinIndex(
                        fields=["document"], name="entry_document"
                    ),
                    models.Index(
                        condition=models.Q(("compared_at", None), ("merged_into", None)),
                        fields=["id"],
                        name="entry_to_compare",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Phrasing",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("text", models.TextField(verbose_name="text")),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("title", "Title"),
                            ("curator", "Curator"),
                            ("statement", "Reviewed statement"),
                            ("imported", "Imported"),
                        ],
                        default="curator",
                        max_length=10,
                        verbose_name="source",
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False, verbose_name="created"
                    ),
                ),
                (
                    "document",
                    models.GeneratedField(
                        db_persist=True,
                        expression=django.contrib.postgres.search.SearchVector(
                            "text", config="english"
                        ),
                        output_field=django.contrib.postgres.search.SearchVectorField(),
                    ),
                ),
                (
                    "entry",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="phrasings",
                        to="catalog.entry",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("entry"),
                        django.db.models.functions.text.MD5("text"),
                        name="phrasing_once_an_entry",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("source", "title")),
                        fields=("entry",),
                        name="phrasing_one_title_an_entry",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("text", ""), _negated=True), name="phrasing_not_empty"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("source__in", ["title", "curator", "statement", "imported"])
                        ),
                        name="phrasing_source_legal",
                    ),
                ],
                "indexes": [
                    django.contrib.postgres.indexes.GinIndex(
                        fields=["document"], name="phrasing_document"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Embedding",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("vector", pgvector.django.vector.VectorField()),
                ("searchable", models.BooleanField(default=False)),
                (
                    "model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="embeddings",
                        to="catalog.embeddingmodel",
                    ),
                ),
                (
                    "phrasing",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="embeddings",
                        to="catalog.phrasing",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("phrasing", "model"), name="embedding_once_a_phrasing_and_model"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Version",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField(verbose_name="number")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("in_review", "In review"),
                            ("verified", "Verified"),
                            ("deprecated", "Deprecated"),
                        ],
                        default="draft",
                        max_length=12,
                        verbose_name="state",
                    ),
                ),
                ("script", models.TextField(verbose_name="script")),
                ("sha256", models.CharField(db_index=True, editable=False, max_length=64)),
                (
                    "parameters",
                    models.JSONField(blank=True, default=list, verbose_name="parameters"),
                ),
                (
                    "risk",
                    models.CharField(
                        choices=[("low", "Low"), ("medium", "Medium"), ("high", "High")],
                        default="medium",
                        max_length=8,
                        verbose_name="risk",
                    ),
                ),
                ("findings", models.JSONField(blank=True, default=list, verbose_name="findings")),
                (
                    "side_effect",
                    models.CharField(
                        choices=[
                            ("read_only", "Read-only"),
                            ("mutating", "Changes things"),
                            ("unknown", "Unknown"),
                        ],
                        default="unknown",
                        max_length=10,
                        verbose_name="side effect",
                    ),
                ),
                (
                    "runs_on",
                    models.CharField(
                        choices=[
                            ("host", "Host"),
                            ("container", "Container"),
                            ("node", "Cluster node"),
                            ("workstation", "Workstation"),
                        ],
                        default="host",
                        max_length=12,
                        verbose_name="runs on",
                    ),
                ),
                (
                    "operating_system",
                    models.CharField(
                        default="linux", max_length=60, verbose_name="operating system"
                    ),
                ),
                ("shell", models.CharField(default="bash", max_length=30, verbose_name="shell")),
                (
                    "tools",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=60),
                        blank=True,
                        default=list,
                        size=None,
                        verbose_name="tools",
                    ),
                ),
                (
                    "privileges",
                    models.CharField(
                        choices=[("user", "Ordinary user"), ("sudo", "sudo"), ("root", "root")],
                        default="user",
                        max_length=6,
                        verbose_name="privileges",
                    ),
                ),
                ("check_before", models.TextField(blank=True, verbose_name="check before")),
                ("check_after", models.TextField(blank=True, verbose_name="check after")),
                ("undo", models.TextField(blank=True, verbose_name="how to undo")),
                (
                    "repeatable",
                    models.BooleanField(blank=True, null=True, verbose_name="safe to run twice"),
                ),
                ("links", models.JSONField(blank=True, default=list, verbose_name="links")),
                (
                    "provenance",
                    models.JSONField(blank=True, default=dict, verbose_name="provenance"),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False, verbose_name="created"
                    ),
                ),
                (
                    "verified_at",
                    models.DateTimeField(
                        blank=True, editable=False, null=True, verbose_name="verified"
                    ),
                ),
                (
                    "self_verified",
                    models.BooleanField(default=False, verbose_name="verified by its author"),
                ),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="authored_versions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "entry",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="versions",
                        to="catalog.entry",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="owned_versions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "tags",
                    models.ManyToManyField(blank=True, related_name="versions", to="catalog.tag"),
                ),
                (
                    "verified_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="verified_versions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "checked_with",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        editable=False,
                        max_length=80,
                        verbose_name="checked with",
                    ),
                ),
            ],
            options={
                "ordering": ["-number"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("entry", "number"), name="version_number_once_an_entry"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("state", "verified")),
                        fields=("entry",),
                        name="version_one_verified_an_entry",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["draft", "in_review", "verified", "deprecated"])
                        ),
                        name="version_state_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("risk__in", ["low", "medium", "high"])),
                        name="version_risk_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("side_effect__in", ["read_only", "mutating", "unknown"])
                        ),
                        name="version_side_effect_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("number__gte", 1)), name="version_number_from_one"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("script", ""), _negated=True),
                        name="version_script_not_empty",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "verified"), _negated=True),
                            ("verified_at__isnull", False),
                            _connector="OR",
                        ),
                        name="version_verified_when",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("verified_by", None),
                            ("author", None),
                            models.Q(("verified_by", models.F("author")), _negated=True),
                            ("self_verified", True),
                            _connector="OR",
                        ),
                        name="version_four_eyes",
                    ),
                ],
                "indexes": [
                    models.Index(fields=["state", "-id"], name="version_state_newest"),
                    models.Index(fields=["risk"], name="version_risk"),
                    models.Index(
                        condition=models.Q(("state", "verified")),
                        fields=["verified_at"],
                        name="version_verified_at",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Use",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "values",
                    models.JSONField(blank=True, default=dict, verbose_name="parameter values"),
                ),
                ("reason", models.TextField(blank=True, verbose_name="reason")),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("worked", "Worked"),
                            ("no_effect", "No effect"),
                            ("worse", "Made it worse"),
                        ],
                        max_length=10,
                        verbose_name="outcome",
                    ),
                ),
                ("outcome_at", models.DateTimeField(blank=True, null=True)),
                ("incident", models.CharField(blank=True, max_length=100, verbose_name="incident")),
                ("note", models.TextField(blank=True, verbose_name="note")),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="uses",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="uses",
                        to="catalog.version",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("outcome__in", ["", "worked", "no_effect", "worse"])),
                        name="use_outcome_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("outcome", ""), ("outcome_at", None)),
                            models.Q(
                                models.Q(("outcome", ""), _negated=True),
                                ("outcome_at__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="use_outcome_when",
                    ),
                ],
                "indexes": [models.Index(fields=["version", "outcome"], name="use_by_version")],
            },
        ),
        migrations.CreateModel(
            name="VersionEvent",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("old", models.CharField(blank=True, max_length=12)),
                (
                    "new",
                    models.CharField(
                        choices=[
                            ("draft", "Draft"),
                            ("in_review", "In review"),
                            ("verified", "Verified"),
                            ("deprecated", "Deprecated"),
                        ],
                        max_length=12,
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("note", models.TextField(blank=True)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="catalog.version",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="MatchLabel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("statement", models.TextField(verbose_name="statement")),
                (
                    "label",
                    models.CharField(
                        choices=[("match", "Match"), ("adapt", "Adapt"), ("no_match", "No match")],
                        max_length=8,
                        verbose_name="label",
                    ),
                ),
                (
                    "confidence",
                    models.FloatField(blank=True, null=True, verbose_name="confidence shown"),
                ),
                ("scoring", models.CharField(blank=True, max_length=40, verbose_name="scoring")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="labels",
                        to="catalog.version",
                    ),
                ),
                (
                    "picked",
                    models.CharField(
                        choices=[
                            ("asked", "By who asked"),
                            ("borderline", "Picked near the threshold"),
                            ("random", "Picked at random"),
                        ],
                        db_default="asked",
                        default="asked",
                        max_length=10,
                    ),
                ),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "ordering": ["pk"],
                "permissions": [("label_matches", "Can label matches for calibration")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("label__in", ["match", "adapt", "no_match"])),
                        name="match_label_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("picked__in", ["asked", "borderline", "random"])),
                        name="match_label_picked_legal",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Threshold",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("scoring", models.CharField(max_length=40, verbose_name="scoring")),
                ("match", models.FloatField(verbose_name="match from")),
                ("adapt", models.FloatField(verbose_name="adapt from")),
                (
                    "wanted_precision",
                    models.FloatField(blank=True, null=True, verbose_name="wanted precision"),
                ),
                (
                    "labels",
                    models.PositiveIntegerField(
                        default=0, verbose_name="labels it was chosen from"
                    ),
                ),
                ("why", models.TextField(blank=True, verbose_name="why")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "above",
                    models.PositiveIntegerField(
                        blank=True, null=True, verbose_name="at or above it"
                    ),
                ),
                (
                    "above_right",
                    models.PositiveIntegerField(
                        blank=True, null=True, verbose_name="of them right"
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "permissions": [("set_threshold", "Can set the threshold of retrieval")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("adapt__gte", 0),
                            ("adapt__lte", 1),
                            ("match__gte", 0),
                            ("match__lte", 1),
                        ),
                        name="threshold_in_range",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Job",
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
                            ("import", "Import"),
                            ("export", "Export"),
                            ("embed", "New vectors"),
                            ("recheck", "Checked again"),
                            ("compare", "Search for near-duplicates"),
                            ("fit", "Fit of the scoring"),
                        ],
                        max_length=10,
                        verbose_name="kind",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("waiting", "Waiting"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="waiting",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                ("arguments", models.JSONField(default=dict)),
                ("filename", models.CharField(blank=True, max_length=255, verbose_name="file")),
                ("path", models.CharField(blank=True, max_length=255)),
                ("done", models.PositiveBigIntegerField(default=0)),
                ("total", models.PositiveBigIntegerField(blank=True, null=True)),
                ("report", models.JSONField(default=dict, verbose_name="report")),
                ("trouble", models.TextField(blank=True, verbose_name="what went wrong")),
                ("created_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("owner", models.CharField(blank=True, max_length=100)),
                ("fence", models.PositiveIntegerField(default=0)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["waiting", "running", "done", "failed", "cancelled"])
                        ),
                        name="job_state_legal",
                    )
                ],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["waiting", "running"])),
                        fields=["id"],
                        name="job_unfinished",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="LabelScore",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("scoring", models.CharField(max_length=40, verbose_name="scoring")),
                ("confidence", models.FloatField(verbose_name="confidence")),
                ("may_match", models.BooleanField(verbose_name="rules allow a match")),
                (
                    "label",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scores",
                        to="catalog.matchlabel",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("label", "scoring"), name="label_score_once_a_scoring"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("confidence__gte", 0), ("confidence__lte", 1)),
                        name="label_score_in_range",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Merge",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("phrasings", models.JSONField(default=list)),
                ("events", models.JSONField(default=list)),
                ("note", models.TextField(blank=True, verbose_name="note")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "source",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="merges_away",
                        to="catalog.entry",
                    ),
                ),
                (
                    "target",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="merges_in",
                        to="catalog.entry",
                    ),
                ),
                (
                    "undone_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("undone_at", None)),
                        fields=("source",),
                        name="merge_one_an_entry",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("source", models.F("target")), _negated=True),
                        name="merge_of_two",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="NearDuplicate",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("likeness", models.FloatField(verbose_name="likeness")),
                ("same_script", models.BooleanField(default=False, verbose_name="the same script")),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "To look at"),
                            ("dismissed", "Two different things"),
                            ("merged", "Merged"),
                        ],
                        default="open",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                ("found_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("decided_at", models.DateTimeField(blank=True, null=True)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "first",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="catalog.entry",
                    ),
                ),
                (
                    "second",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="catalog.entry",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("first", "second"), name="near_duplicate_once_a_pair"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("first__lt", models.F("second"))),
                        name="near_duplicate_in_order",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["open", "dismissed", "merged"])),
                        name="near_duplicate_state_legal",
                    ),
                ],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "open")),
                        fields=["-likeness", "id"],
                        name="near_duplicate_open",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Recheck",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("checked_with", models.CharField(max_length=80, verbose_name="checked with")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("findings", models.JSONField(default=list, verbose_name="findings")),
                (
                    "risk",
                    models.CharField(
                        choices=[("low", "Low"), ("medium", "Medium"), ("high", "High")],
                        max_length=8,
                        verbose_name="risk",
                    ),
                ),
                (
                    "side_effect",
                    models.CharField(
                        choices=[
                            ("read_only", "Read-only"),
                            ("mutating", "Changes things"),
                            ("unknown", "Unknown"),
                        ],
                        max_length=10,
                        verbose_name="side effect",
                    ),
                ),
                (
                    "has_changed",
                    models.BooleanField(default=False, verbose_name="says something else"),
                ),
                ("seen_at", models.DateTimeField(blank=True, null=True)),
                (
                    "seen_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "version",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="recheck",
                        to="catalog.version",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("has_changed", True), ("seen_at", None)),
                        fields=["id"],
                        name="recheck_to_look_at",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ScoringModel",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=40, unique=True, verbose_name="version")),
                ("document", models.JSONField(verbose_name="document")),
                ("based_on", models.CharField(max_length=40, verbose_name="based on")),
                ("labels", models.PositiveIntegerField(verbose_name="labels")),
                ("measured", models.JSONField(default=dict, verbose_name="measured")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="ScoringChoice",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("scoring", models.CharField(max_length=40, verbose_name="scoring")),
                ("why", models.TextField(blank=True, verbose_name="why")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "model",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="choices",
                        to="catalog.scoringmodel",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
    ]
