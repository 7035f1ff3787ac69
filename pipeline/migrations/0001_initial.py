"""The pipeline's tables."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "__first__"),
        ("catalog", "0002_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Action",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("statement", models.TextField(verbose_name="statement")),
                ("statement_sha256", models.CharField(editable=False, max_length=64)),
                ("incident", models.TextField(blank=True, verbose_name="incident")),
                ("environment", models.TextField(blank=True, verbose_name="environment notes")),
                ("reference", models.TextField(blank=True, verbose_name="reference script")),
                (
                    "severity",
                    models.PositiveSmallIntegerField(
                        choices=[(1, "Critical"), (2, "High"), (3, "Medium"), (4, "Low")],
                        default=3,
                        verbose_name="severity",
                    ),
                ),
                (
                    "target",
                    models.CharField(blank=True, max_length=300, verbose_name="where it would run"),
                ),
                (
                    "impact",
                    models.CharField(
                        blank=True, max_length=500, verbose_name="what breaks if it is wrong"
                    ),
                ),
                (
                    "source",
                    models.CharField(
                        choices=[("asked", "Asked"), ("imported", "Imported"), ("demo", "Demo")],
                        default="asked",
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
                    "erased_at",
                    models.DateTimeField(
                        blank=True, editable=False, null=True, verbose_name="erased"
                    ),
                ),
                (
                    "asked_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="actions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "erased_by",
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
                "permissions": [
                    ("ask", "Can ask for a script"),
                    ("erase_texts", "Can erase an action's texts"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("statement", ""), _negated=True),
                            ("erased_at__isnull", False),
                            _connector="OR",
                        ),
                        name="action_statement_not_empty",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("severity__gte", 1), ("severity__lte", 4)),
                        name="action_severity_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("source__in", ["asked", "imported", "demo"])),
                        name="action_source_legal",
                    ),
                ],
                "indexes": [
                    models.Index(fields=["statement_sha256"], name="action_same_statement")
                ],
            },
        ),
        migrations.CreateModel(
            name="Batch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=200, verbose_name="name")),
                ("priority", models.SmallIntegerField(default=0, verbose_name="priority")),
                (
                    "budget",
                    models.PositiveBigIntegerField(blank=True, null=True, verbose_name="budget"),
                ),
                ("paused_at", models.DateTimeField(blank=True, null=True, verbose_name="paused")),
                (
                    "paused_why",
                    models.CharField(blank=True, max_length=300, verbose_name="why paused"),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False, verbose_name="created"
                    ),
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
            ],
            options={
                "verbose_name_plural": "batches",
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="Configuration",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.SlugField(max_length=80, unique=True, verbose_name="name")),
                ("title", models.CharField(max_length=150, verbose_name="title")),
                (
                    "preset",
                    models.CharField(
                        choices=[
                            ("self_reflection", "Self-reflection"),
                            ("peer_review", "Peer review"),
                            ("strong_refiner", "Strong refiner"),
                            ("own", "Own"),
                            ("imported", "Imported"),
                        ],
                        default="own",
                        max_length=16,
                        verbose_name="preset",
                    ),
                ),
                (
                    "rounds",
                    models.PositiveSmallIntegerField(
                        default=1, verbose_name="rounds of refinement"
                    ),
                ),
                (
                    "uses_retrieval",
                    models.BooleanField(default=True, verbose_name="asks the catalogue first"),
                ),
                (
                    "uses_examples",
                    models.BooleanField(
                        default=True, verbose_name="shows nearest entries as examples"
                    ),
                ),
                ("is_default", models.BooleanField(default=False, verbose_name="default")),
                (
                    "archived_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="archived"),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False, verbose_name="created"
                    ),
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
                ("note", models.TextField(blank=True, verbose_name="what it is for")),
                (
                    "prompts",
                    models.JSONField(
                        blank=True, default=dict, verbose_name="pinned prompt versions"
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("rounds__gte", 0), ("rounds__lte", 4)),
                        name="configuration_rounds_bounded",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("is_default", True)),
                        fields=("is_default",),
                        name="configuration_one_default",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "preset__in",
                                [
                                    "self_reflection",
                                    "peer_review",
                                    "strong_refiner",
                                    "own",
                                    "imported",
                                ],
                            )
                        ),
                        name="configuration_preset_legal",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Draft",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("retrieved", "Retrieved"),
                            ("generated", "Generated"),
                            ("repaired", "Repaired"),
                            ("refined", "Refined"),
                            ("edited", "Edited"),
                            ("imported", "Imported"),
                        ],
                        max_length=10,
                    ),
                ),
                ("script", models.TextField()),
                ("sha256", models.CharField(editable=False, max_length=64)),
                ("round", models.PositiveSmallIntegerField(default=0)),
                (
                    "arm",
                    models.CharField(
                        choices=[("model", "Model"), ("expert", "Expert")],
                        default="model",
                        max_length=6,
                    ),
                ),
                ("model", models.CharField(blank=True, max_length=100)),
                ("prompt_version", models.CharField(blank=True, max_length=12)),
                ("note", models.TextField(blank=True)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="drafts",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "parent",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="children",
                        to="pipeline.draft",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="drafts",
                        to="catalog.version",
                    ),
                ),
            ],
            options={
                "ordering": ["number"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("number__gte", 1)), name="draft_number_from_one"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "kind__in",
                                [
                                    "retrieved",
                                    "generated",
                                    "repaired",
                                    "refined",
                                    "edited",
                                    "imported",
                                ],
                            )
                        ),
                        name="draft_kind_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("arm__in", ["model", "expert"])), name="draft_arm_legal"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "retrieved"), _negated=True),
                            ("version__isnull", False),
                            _connector="OR",
                        ),
                        name="draft_retrieved_from_version",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "edited"), _negated=True),
                            models.Q(("author__isnull", False), ("parent__isnull", False)),
                            _connector="OR",
                        ),
                        name="draft_edited_by_somebody",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Assessment",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("script_sha256", models.CharField(max_length=64)),
                (
                    "verdict",
                    models.CharField(
                        choices=[
                            ("correct", "Correct"),
                            ("incorrect", "Incorrect"),
                            ("unknown", "Unknown"),
                        ],
                        max_length=10,
                    ),
                ),
                ("why", models.CharField(blank=True, max_length=20)),
                ("syntax_ok", models.BooleanField(null=True)),
                ("functionality", models.TextField(blank=True)),
                ("similarity", models.CharField(blank=True, max_length=10)),
                ("similarity_reason", models.TextField(blank=True)),
                ("difference", models.CharField(blank=True, max_length=10)),
                ("difference_reason", models.TextField(blank=True)),
                ("differences", models.JSONField(default=list)),
                ("model", models.CharField(blank=True, max_length=100)),
                ("prompt_versions", models.JSONField(default=dict)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                (
                    "draft",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="assessment",
                        to="pipeline.draft",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("verdict__in", ["correct", "incorrect", "unknown"])),
                        name="assessment_verdict_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("similarity__in", ["", "match", "mismatch", "unknown"]),
                            ("difference__in", ["", "match", "mismatch", "unknown"]),
                        ),
                        name="assessment_parts_legal",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DraftFinding",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("script_sha256", models.CharField(max_length=64)),
                ("check_name", models.CharField(max_length=40)),
                ("check_version", models.CharField(max_length=40)),
                ("outcome", models.CharField(max_length=10)),
                ("level", models.CharField(max_length=10)),
                ("code", models.CharField(blank=True, max_length=40)),
                ("message", models.TextField()),
                ("line", models.PositiveIntegerField(null=True)),
                ("column", models.PositiveIntegerField(null=True)),
                ("end_line", models.PositiveIntegerField(null=True)),
                ("end_column", models.PositiveIntegerField(null=True)),
                (
                    "draft",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="findings",
                        to="pipeline.draft",
                    ),
                ),
            ],
            options={
                "ordering": ["line", "column", "pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("outcome__in", ["passed", "failed", "unscored"])),
                        name="draft_finding_outcome_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("level__in", ["error", "warning", "info", "style"])),
                        name="draft_finding_level_legal",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DraftUse",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("reason", models.TextField(verbose_name="reason")),
                ("outcome", models.CharField(blank=True, max_length=10, verbose_name="outcome")),
                ("outcome_at", models.DateTimeField(blank=True, null=True)),
                ("incident", models.CharField(blank=True, max_length=100, verbose_name="incident")),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="draft_uses",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "draft",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="uses",
                        to="pipeline.draft",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True),
                        name="draft_use_has_reason",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("outcome__in", ["", "worked", "no_effect", "worse"])),
                        name="draft_use_outcome_legal",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Endpoint",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.SlugField(unique=True, verbose_name="name")),
                ("title", models.CharField(max_length=100, verbose_name="title")),
                ("base_url", models.CharField(max_length=300, verbose_name="base URL")),
                (
                    "key_variable",
                    models.CharField(
                        blank=True, max_length=100, verbose_name="environment variable of the key"
                    ),
                ),
                (
                    "mode",
                    models.CharField(
                        choices=[("schema", "Schema"), ("tool", "Tool"), ("text", "Text")],
                        default="text",
                        max_length=8,
                        verbose_name="mode",
                    ),
                ),
                ("enabled", models.BooleanField(default=False, verbose_name="switched on")),
                ("demo", models.BooleanField(default=False, verbose_name="demo model")),
                (
                    "takes_temperature",
                    models.BooleanField(default=False, verbose_name="takes a temperature"),
                ),
                (
                    "has_batches",
                    models.BooleanField(default=False, verbose_name="has Message Batches"),
                ),
                (
                    "max_in_flight",
                    models.PositiveIntegerField(default=8, verbose_name="calls in flight"),
                ),
                (
                    "timeout_seconds",
                    models.PositiveIntegerField(
                        default=120, verbose_name="time limit of a call in seconds"
                    ),
                ),
                (
                    "blocked_until",
                    models.DateTimeField(blank=True, null=True, verbose_name="rests until"),
                ),
                (
                    "blocked_why",
                    models.CharField(blank=True, max_length=300, verbose_name="why it rests"),
                ),
                (
                    "probe",
                    models.JSONField(
                        blank=True, default=dict, verbose_name="what the last check found"
                    ),
                ),
                ("probed_at", models.DateTimeField(blank=True, null=True, verbose_name="checked")),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False, verbose_name="created"
                    ),
                ),
                ("campaign_call_at", models.DateTimeField(blank=True, editable=False, null=True)),
            ],
            options={
                "ordering": ["name"],
                "permissions": [("manage_endpoints", "Can manage endpoints and configurations")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("mode__in", ["schema", "tool", "text"])),
                        name="endpoint_mode_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("max_in_flight__gte", 1), ("timeout_seconds__gte", 1)),
                        name="endpoint_limits_positive",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Feedback",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "arm",
                    models.CharField(
                        choices=[("model", "Model"), ("expert", "Expert")],
                        default="model",
                        max_length=6,
                    ),
                ),
                ("round", models.PositiveSmallIntegerField(default=1)),
                ("text", models.TextField()),
                ("no_error_found", models.BooleanField(default=False)),
                ("model", models.CharField(blank=True, max_length=100)),
                ("prompt_version", models.CharField(blank=True, max_length=12)),
                ("words", models.PositiveIntegerField(default=0)),
                ("points", models.PositiveSmallIntegerField(default=0)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="feedbacks",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "based_on",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="edits",
                        to="pipeline.feedback",
                    ),
                ),
                (
                    "draft",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="feedbacks",
                        to="pipeline.draft",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "feedback",
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("arm", "model")),
                        fields=("draft",),
                        name="feedback_one_by_the_model_a_draft",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("arm__in", ["model", "expert"])),
                        name="feedback_arm_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("arm", "model"), ("author__isnull", False), _connector="OR"
                        ),
                        name="feedback_expert_has_author",
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="draft",
            name="feedback",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="drafts",
                to="pipeline.feedback",
            ),
        ),
        migrations.CreateModel(
            name="ModelCall",
            fields=[
                ("key", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("stage", models.CharField(max_length=12)),
                ("round", models.PositiveSmallIntegerField(default=0)),
                ("sample", models.PositiveSmallIntegerField(default=0)),
                ("model", models.CharField(max_length=100)),
                ("prompt", models.CharField(max_length=40)),
                ("prompt_version", models.CharField(max_length=12)),
                ("request", models.JSONField()),
                (
                    "state",
                    models.CharField(
                        choices=[("open", "Open"), ("done", "Done"), ("failed", "Failed")],
                        default="open",
                        max_length=6,
                    ),
                ),
                ("fence", models.PositiveBigIntegerField(default=0)),
                ("reply", models.JSONField(null=True)),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("read", "read"),
                            ("refused", "refused"),
                            ("truncated", "truncated"),
                            ("empty", "empty"),
                            ("unparsed", "unparsed"),
                            ("conflict", "conflict"),
                        ],
                        max_length=10,
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="calls",
                        to="pipeline.endpoint",
                    ),
                ),
            ],
            options={
                "ordering": ["created_at"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["open", "done", "failed"])),
                        name="model_call_state_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "done"), _negated=True),
                            ("reply__isnull", False),
                            _connector="OR",
                        ),
                        name="model_call_done_has_reply",
                    ),
                ],
                "indexes": [
                    models.Index(fields=["prompt", "prompt_version"], name="model_call_of_prompt")
                ],
            },
        ),
        migrations.CreateModel(
            name="Attempt",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("fence", models.PositiveBigIntegerField()),
                ("started_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("answered", "Answered"),
                            ("busy", "Server busy"),
                            ("limit", "Spend limit"),
                            ("refused", "Request refused"),
                            ("broken", "Broken reply"),
                            ("timeout", "Too slow"),
                            ("unreachable", "Not reachable"),
                            ("orphaned", "Worker lost"),
                        ],
                        max_length=12,
                    ),
                ),
                ("http_status", models.PositiveSmallIntegerField(blank=True, null=True)),
                ("error_type", models.CharField(blank=True, max_length=60)),
                ("message", models.TextField(blank=True)),
                ("request_id", models.CharField(blank=True, max_length=100)),
                ("possibly_billed", models.BooleanField(default=False)),
                ("milliseconds", models.PositiveIntegerField(blank=True, null=True)),
                ("input_tokens", models.PositiveIntegerField(default=0)),
                ("output_tokens", models.PositiveIntegerField(default=0)),
                ("cache_read_tokens", models.PositiveIntegerField(default=0)),
                ("cache_write_tokens", models.PositiveIntegerField(default=0)),
                ("thinking_tokens", models.PositiveIntegerField(default=0)),
                ("cost", models.PositiveBigIntegerField(blank=True, null=True)),
                ("price_since", models.DateField(blank=True, null=True)),
                ("raw", models.JSONField(blank=True, null=True)),
                (
                    "call",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="attempts",
                        to="pipeline.modelcall",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("call", "number"), name="attempt_number_once_a_call"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at", None), ("outcome", "")),
                            models.Q(
                                ("ended_at__isnull", False),
                                models.Q(("outcome", ""), _negated=True),
                            ),
                            _connector="OR",
                        ),
                        name="attempt_ends_with_outcome",
                    ),
                ],
                "indexes": [
                    models.Index(
                        condition=models.Q(("ended_at", None)),
                        fields=["ended_at"],
                        name="attempt_open",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Price",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("model", models.CharField(max_length=100, verbose_name="model")),
                ("since", models.DateField(verbose_name="since")),
                ("input", models.PositiveBigIntegerField(default=0, verbose_name="input")),
                ("output", models.PositiveBigIntegerField(default=0, verbose_name="output")),
                (
                    "cache_read",
                    models.PositiveBigIntegerField(default=0, verbose_name="cache read"),
                ),
                (
                    "cache_write",
                    models.PositiveBigIntegerField(default=0, verbose_name="cache write"),
                ),
                ("source", models.CharField(blank=True, max_length=200, verbose_name="source")),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prices",
                        to="pipeline.endpoint",
                    ),
                ),
            ],
            options={
                "ordering": ["endpoint", "model", "-since"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("endpoint", "model", "since"), name="price_once_a_day"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Refinement",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("done", "Done"), ("failed", "Failed")],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("problem", models.TextField(blank=True)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "asked_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "draft",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="refinements",
                        to="pipeline.draft",
                    ),
                ),
                (
                    "feedback",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="refinement",
                        to="pipeline.feedback",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(
                            ("feedback", None), models.Q(("state", "failed"), _negated=True)
                        ),
                        fields=("draft",),
                        name="refinement_one_by_the_model_a_draft",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "done", "failed"])),
                        name="refinement_state_legal",
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="modelcall",
            name="refinement",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="calls",
                to="pipeline.refinement",
            ),
        ),
        migrations.AddField(
            model_name="draft",
            name="refinement",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="drafts",
                to="pipeline.refinement",
            ),
        ),
        migrations.CreateModel(
            name="RoleSetting",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("generator", "Generator"),
                            ("assessor", "Assessor"),
                            ("refiner", "Refiner"),
                        ],
                        max_length=10,
                        verbose_name="role",
                    ),
                ),
                ("model", models.CharField(max_length=100, verbose_name="model")),
                (
                    "max_tokens",
                    models.PositiveIntegerField(
                        default=4096, verbose_name="most tokens of a reply"
                    ),
                ),
                ("effort", models.CharField(blank=True, max_length=10, verbose_name="effort")),
                (
                    "temperature",
                    models.FloatField(blank=True, null=True, verbose_name="temperature"),
                ),
                (
                    "configuration",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="roles",
                        to="pipeline.configuration",
                    ),
                ),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pipeline.endpoint",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("configuration", "role"), name="role_once_a_configuration"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["generator", "assessor", "refiner"])),
                        name="role_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("max_tokens__gte", 1)), name="role_max_tokens_positive"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("asked", "Asked"),
                            ("campaign", "Campaign"),
                            ("command", "Command line"),
                            ("demo", "Demo"),
                            ("imported", "Imported"),
                        ],
                        default="asked",
                        max_length=10,
                        verbose_name="origin",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("queued", "Queued"),
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("cancelled", "Cancelled"),
                        ],
                        default="queued",
                        max_length=10,
                        verbose_name="state",
                    ),
                ),
                ("spec", models.JSONField(default=dict)),
                (
                    "demo",
                    models.BooleanField(default=False, verbose_name="made with the demo model"),
                ),
                (
                    "uses_retrieval",
                    models.BooleanField(default=True, verbose_name="asks the catalogue first"),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False, verbose_name="created"
                    ),
                ),
                ("started_at", models.DateTimeField(blank=True, null=True, verbose_name="started")),
                (
                    "finished_at",
                    models.DateTimeField(blank=True, null=True, verbose_name="finished"),
                ),
                (
                    "verdict",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("correct", "Correct"),
                            ("incorrect", "Incorrect"),
                            ("unknown", "Unknown"),
                        ],
                        max_length=10,
                        verbose_name="verdict",
                    ),
                ),
                ("problem", models.TextField(blank=True, verbose_name="problem")),
                ("owner", models.CharField(blank=True, max_length=100)),
                ("fence", models.PositiveBigIntegerField(default=0)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                ("not_before", models.DateTimeField(blank=True, null=True)),
                ("crashes", models.PositiveSmallIntegerField(default=0)),
                (
                    "action",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="pipeline.action",
                    ),
                ),
                (
                    "answered_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="answered_runs",
                        to="catalog.version",
                    ),
                ),
                (
                    "asked_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "batch",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="pipeline.batch",
                    ),
                ),
                (
                    "configuration",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="runs",
                        to="pipeline.configuration",
                    ),
                ),
                (
                    "follows",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="followed_by",
                        to="pipeline.run",
                    ),
                ),
                (
                    "recommended",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="pipeline.draft",
                    ),
                ),
                (
                    "waits_for",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="waiting_runs",
                        to="pipeline.endpoint",
                    ),
                ),
                ("told_at", models.DateTimeField(blank=True, editable=False, null=True)),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["queued", "running", "done", "failed", "cancelled"])
                        ),
                        name="run_state_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("origin__in", ["asked", "campaign", "command", "demo", "imported"])
                        ),
                        name="run_origin_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("verdict__in", ["", "correct", "incorrect", "unknown"])
                        ),
                        name="run_verdict_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state__in", ["done", "failed"]), _negated=True),
                            ("finished_at__isnull", False),
                            _connector="OR",
                        ),
                        name="run_finished_when",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("follows", None),
                            models.Q(("follows", models.F("pk")), _negated=True),
                            _connector="OR",
                        ),
                        name="run_not_following_itself",
                    ),
                ],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["queued", "running"])),
                        fields=["not_before", "lease_until"],
                        name="run_unfinished",
                    ),
                    models.Index(fields=["-finished_at"], name="run_newest_finished"),
                    models.Index(
                        condition=models.Q(("waits_for__isnull", False)),
                        fields=["waits_for"],
                        name="run_waiting",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RetrievedMatch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("rank", models.PositiveSmallIntegerField()),
                ("phrasing", models.TextField()),
                ("answer", models.CharField(max_length=6)),
                ("confidence", models.FloatField()),
                ("cosine", models.FloatField()),
                ("scoring", models.CharField(max_length=40)),
                ("reasons", models.JSONField(default=list)),
                ("differs", models.JSONField(default=list)),
                ("fills", models.JSONField(default=dict)),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="catalog.version",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="matches",
                        to="pipeline.run",
                    ),
                ),
            ],
            options={
                "ordering": ["rank"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "rank"), name="retrieved_match_rank_once_a_run"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("answer__in", ["match", "adapt", "none"])),
                        name="retrieved_match_answer_legal",
                    ),
                ],
            },
        ),
        migrations.AddField(
            model_name="refinement",
            name="run",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE,
                related_name="refinements",
                to="pipeline.run",
            ),
        ),
        migrations.AddField(
            model_name="modelcall",
            name="run",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="calls", to="pipeline.run"
            ),
        ),
        migrations.AddField(
            model_name="draft",
            name="run",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="drafts",
                to="pipeline.run",
            ),
        ),
        migrations.CreateModel(
            name="Stage",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("sequence", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=12)),
                ("round", models.PositiveSmallIntegerField(default=0)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("running", "Running"),
                            ("done", "Done"),
                            ("failed", "Failed"),
                            ("skipped", "Skipped"),
                        ],
                        default="running",
                        max_length=8,
                    ),
                ),
                ("outcome", models.CharField(blank=True, max_length=20)),
                ("found", models.TextField(blank=True)),
                ("started_at", models.DateTimeField(default=django.utils.timezone.now)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("milliseconds", models.PositiveIntegerField(default=0)),
                ("input_tokens", models.PositiveIntegerField(default=0)),
                ("output_tokens", models.PositiveIntegerField(default=0)),
                (
                    "draft",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="pipeline.draft",
                    ),
                ),
                (
                    "refinement",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="stages",
                        to="pipeline.refinement",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="stages",
                        to="pipeline.run",
                    ),
                ),
            ],
            options={
                "ordering": ["sequence"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "sequence"), name="stage_sequence_once_a_run"
                    ),
                    models.UniqueConstraint(
                        fields=("run", "name", "round", "refinement"),
                        name="stage_once_a_step",
                        nulls_distinct=False,
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["running", "done", "failed", "skipped"])),
                        name="stage_state_legal",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PromptVersion",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=40, verbose_name="prompt")),
                ("version", models.CharField(max_length=12, verbose_name="version")),
                ("text", models.TextField(verbose_name="text")),
                (
                    "source",
                    models.CharField(
                        choices=[("file", "Comes with the product"), ("written", "Written here")],
                        default="file",
                        max_length=7,
                        verbose_name="source",
                    ),
                ),
                (
                    "note",
                    models.CharField(blank=True, max_length=300, verbose_name="what was changed"),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False, verbose_name="created"
                    ),
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
            ],
            options={
                "ordering": ["name", "-pk"],
                "constraints": [
                    models.UniqueConstraint(fields=("name", "version"), name="prompt_version_once"),
                    models.CheckConstraint(
                        condition=models.Q(("source__in", ["file", "written"])),
                        name="prompt_version_source_legal",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Spending",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("day", models.DateField(verbose_name="day")),
                ("model", models.CharField(max_length=100, verbose_name="model")),
                ("stage", models.CharField(max_length=12, verbose_name="stage")),
                ("attempts", models.PositiveBigIntegerField(default=0)),
                ("answered", models.PositiveBigIntegerField(default=0)),
                ("possibly_billed", models.PositiveBigIntegerField(default=0)),
                ("unpriced", models.PositiveBigIntegerField(default=0)),
                ("input_tokens", models.PositiveBigIntegerField(default=0)),
                ("output_tokens", models.PositiveBigIntegerField(default=0)),
                ("cache_read_tokens", models.PositiveBigIntegerField(default=0)),
                ("cache_write_tokens", models.PositiveBigIntegerField(default=0)),
                (
                    "cost",
                    models.PositiveBigIntegerField(default=0, verbose_name="cost in micro-dollars"),
                ),
                ("milliseconds", models.PositiveBigIntegerField(default=0)),
                (
                    "batch",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="spending",
                        to="pipeline.batch",
                    ),
                ),
                (
                    "configuration",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="spending",
                        to="pipeline.configuration",
                    ),
                ),
                (
                    "endpoint",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pipeline.endpoint",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "spending",
                "ordering": ["-day", "pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("day", "endpoint", "model", "configuration", "batch", "stage"),
                        name="spending_once_a_day_and_what",
                        nulls_distinct=False,
                    )
                ],
            },
        ),
        migrations.AlterField(
            model_name="refinement",
            name="asked_by",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to=settings.AUTH_USER_MODEL,
            ),
        ),
        migrations.CreateModel(
            name="Shortening",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveSmallIntegerField()),
                ("text", models.TextField()),
                ("shorter", models.TextField(blank=True)),
                (
                    "state",
                    models.CharField(
                        choices=[("waiting", "Waiting"), ("done", "Done"), ("failed", "Failed")],
                        default="waiting",
                        max_length=8,
                    ),
                ),
                ("problem", models.TextField(blank=True)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "asked_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "draft",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="pipeline.draft",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shortenings",
                        to="pipeline.run",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("run", "number"), name="shortening_number_once_a_run"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("state__in", ["waiting", "done", "failed"])),
                        name="shortening_state_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "done"), _negated=True),
                            models.Q(("shorter", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="shortening_done_has_text",
                    ),
                ],
            },
        ),
        migrations.AddConstraint(
            model_name="modelcall",
            constraint=models.UniqueConstraint(
                fields=("run", "stage", "round", "sample", "refinement"),
                name="model_call_position_once",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="draft",
            constraint=models.UniqueConstraint(
                fields=("run", "number"), name="draft_number_once_a_run"
            ),
        ),
        migrations.AddConstraint(
            model_name="draft",
            constraint=models.UniqueConstraint(
                condition=models.Q(("kind__in", ["edited", "imported"]), _negated=True),
                fields=("run", "kind", "round", "refinement"),
                name="draft_once_a_step",
                nulls_distinct=False,
            ),
        ),
        migrations.AddConstraint(
            model_name="draft",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("kind", "refined"), _negated=True),
                    models.Q(("feedback__isnull", False), ("parent__isnull", False)),
                    _connector="OR",
                ),
                name="draft_refined_from_feedback",
            ),
        ),
    ]
