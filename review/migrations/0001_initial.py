"""The review's tables."""

import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("auth", "__first__"),
        ("catalog", "0002_initial"),
        ("pipeline", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="Campaign",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=150, unique=True, verbose_name="name")),
                (
                    "kind",
                    models.CharField(
                        choices=[("live", "Live queue"), ("study", "Study")],
                        default="study",
                        max_length=5,
                        verbose_name="kind",
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("setup", "Being set up"),
                            ("pilot", "Pilot"),
                            ("open", "Open"),
                            ("paused", "Paused"),
                            ("closed", "Closed"),
                        ],
                        default="setup",
                        max_length=6,
                        verbose_name="state",
                    ),
                ),
                (
                    "overlap",
                    models.PositiveSmallIntegerField(
                        default=1, verbose_name="reviewers for each item"
                    ),
                ),
                (
                    "order",
                    models.CharField(
                        choices=[
                            ("priority", "Priority, then oldest"),
                            ("oldest", "Oldest first"),
                            ("random", "Random for each reviewer"),
                        ],
                        default="random",
                        max_length=8,
                        verbose_name="order",
                    ),
                ),
                (
                    "seed",
                    models.PositiveBigIntegerField(
                        default=0, verbose_name="seed of the random order"
                    ),
                ),
                (
                    "hides_verdict",
                    models.BooleanField(
                        default=True,
                        verbose_name="hides verdict and feedback until the script is scored",
                    ),
                ),
                (
                    "hides_models",
                    models.BooleanField(default=True, verbose_name="hides model names"),
                ),
                (
                    "hides_reviewers",
                    models.BooleanField(default=True, verbose_name="hides other reviewers"),
                ),
                (
                    "hides_execution",
                    models.BooleanField(default=True, verbose_name="hides execution results"),
                ),
                (
                    "hides_reference",
                    models.BooleanField(default=True, verbose_name="hides the reference script"),
                ),
                (
                    "may_reveal",
                    models.BooleanField(default=False, verbose_name="may ask for what is hidden"),
                ),
                (
                    "open_to_all",
                    models.BooleanField(default=False, verbose_name="open to every reviewer"),
                ),
                (
                    "edit_minutes",
                    models.PositiveIntegerField(
                        default=60, verbose_name="minutes in which a score may be changed"
                    ),
                ),
                (
                    "sham_share",
                    models.PositiveSmallIntegerField(
                        default=0, verbose_name="sham share in percent"
                    ),
                ),
                (
                    "halo_share",
                    models.PositiveSmallIntegerField(
                        default=0, verbose_name="halo share in percent"
                    ),
                ),
                (
                    "repeat_share",
                    models.PositiveSmallIntegerField(default=0, verbose_name="repeats in percent"),
                ),
                (
                    "planned_items",
                    models.PositiveIntegerField(
                        blank=True, null=True, verbose_name="planned number of items"
                    ),
                ),
                (
                    "primary_figure",
                    models.CharField(blank=True, max_length=60, verbose_name="primary figure"),
                ),
                (
                    "created_at",
                    models.DateTimeField(
                        default=django.utils.timezone.now, editable=False, verbose_name="created"
                    ),
                ),
                ("closed_at", models.DateTimeField(blank=True, null=True, verbose_name="closed")),
                (
                    "batch",
                    models.OneToOneField(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="campaign",
                        to="pipeline.batch",
                    ),
                ),
                (
                    "configurations",
                    models.ManyToManyField(
                        blank=True, related_name="campaigns", to="pipeline.configuration"
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
                (
                    "cloned_from",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="clones",
                        to="review.campaign",
                    ),
                ),
                ("description", models.TextField(blank=True, verbose_name="what it is for")),
                (
                    "extra_overlap",
                    models.PositiveSmallIntegerField(
                        blank=True, null=True, verbose_name="reviewers for each item of the share"
                    ),
                ),
                (
                    "extra_share",
                    models.PositiveSmallIntegerField(
                        default=0, verbose_name="share with more reviewers in percent"
                    ),
                ),
                (
                    "limit_each",
                    models.PositiveIntegerField(
                        blank=True, null=True, verbose_name="most items for each person"
                    ),
                ),
                (
                    "pilot_size",
                    models.PositiveIntegerField(
                        blank=True, null=True, verbose_name="items of the pilot"
                    ),
                ),
                (
                    "prepares_all",
                    models.BooleanField(
                        default=True, verbose_name="makes feedback and refinement for every item"
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "permissions": [
                    ("manage_campaigns", "Can manage campaigns, reports and flags"),
                    ("review", "Can review: score and decide"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("kind", "live")),
                        fields=("kind",),
                        name="campaign_one_live_queue",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["live", "study"])),
                        name="campaign_kind_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("order__in", ["priority", "oldest", "random"])),
                        name="campaign_order_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("overlap__gte", 1)), name="campaign_overlap_positive"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "live"), _negated=True),
                            ("overlap", 1),
                            _connector="OR",
                        ),
                        name="campaign_live_overlap_one",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["setup", "pilot", "open", "paused", "closed"])
                        ),
                        name="campaign_state_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("extra_share__lte", 100),
                            ("halo_share__lte", 100),
                            ("repeat_share__lte", 100),
                            ("sham_share__lte", 100),
                        ),
                        name="campaign_shares_in_percent",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Case",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("external_id", models.CharField(max_length=200, verbose_name="id")),
                (
                    "purpose",
                    models.CharField(
                        choices=[
                            ("real", "Real"),
                            ("gold", "Gold"),
                            ("training", "Training"),
                            ("repeat", "Repeat"),
                            ("halo", "Halo check"),
                        ],
                        default="real",
                        max_length=8,
                        verbose_name="purpose",
                    ),
                ),
                ("content_sha256", models.CharField(blank=True, max_length=64)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                (
                    "action",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="cases",
                        to="pipeline.action",
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="cases",
                        to="review.campaign",
                    ),
                ),
                ("known", models.JSONField(blank=True, default=dict, verbose_name="known answers")),
                (
                    "repeats",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="repeated_by",
                        to="review.case",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("campaign", "external_id"), name="case_id_once_a_campaign"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("purpose__in", ["real", "gold", "training", "repeat", "halo"])
                        ),
                        name="case_purpose_legal",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Item",
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
                        choices=[
                            ("preparing", "Being prepared"),
                            ("held", "On hold"),
                            ("open", "Open"),
                            ("closed", "Closed"),
                            ("withdrawn", "Withdrawn"),
                        ],
                        default="preparing",
                        max_length=9,
                        verbose_name="state",
                    ),
                ),
                ("overlap", models.PositiveSmallIntegerField(default=1)),
                ("places", models.PositiveSmallIntegerField(default=1)),
                ("priority", models.IntegerField(default=0)),
                ("shuffle", models.PositiveIntegerField(default=0)),
                ("sham", models.BooleanField(default=False)),
                (
                    "execution",
                    models.FloatField(blank=True, null=True, verbose_name="execution result"),
                ),
                (
                    "execution_reason",
                    models.CharField(
                        blank=True, max_length=30, verbose_name="why execution and experts differ"
                    ),
                ),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("closed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="review.campaign",
                    ),
                ),
                (
                    "case",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="items",
                        to="review.case",
                    ),
                ),
                (
                    "configuration",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="items",
                        to="pipeline.configuration",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="items",
                        to="pipeline.run",
                    ),
                ),
                ("disputed", models.BooleanField(default=False)),
                ("done", models.PositiveSmallIntegerField(default=0)),
                ("pattern", models.TextField(blank=True)),
                ("pilot", models.BooleanField(default=False)),
                (
                    "again",
                    models.CharField(
                        blank=True,
                        choices=[("repeat", "Repeat"), ("halo", "Halo check")],
                        db_default="",
                        default="",
                        max_length=6,
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("case", "configuration"), name="item_once_a_case_and_configuration"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("places__gte", 0)), name="item_never_over_assigned"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("execution", None),
                            models.Q(("execution__gte", 0), ("execution__lte", 1)),
                            _connector="OR",
                        ),
                        name="item_execution_share",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "execution_reason__in",
                                [
                                    "",
                                    "different_interpretation",
                                    "too_strict",
                                    "wrong_expected_output",
                                    "other",
                                ],
                            )
                        ),
                        name="item_execution_reason_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["preparing", "held", "open", "closed", "withdrawn"])
                        ),
                        name="item_state_legal",
                    ),
                    models.UniqueConstraint(
                        fields=("campaign", "run", "again"), name="item_run_once_a_campaign"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("again__in", ["", "repeat", "halo"])),
                        name="item_again_legal",
                    ),
                ],
                "indexes": [
                    models.Index(
                        condition=models.Q(("places__gt", 0), ("state", "open")),
                        fields=["campaign", "-priority", "id"],
                        name="item_claim_priority",
                    ),
                    models.Index(
                        condition=models.Q(("places__gt", 0), ("state", "open")),
                        fields=["campaign", "shuffle"],
                        name="item_claim_random",
                    ),
                    models.Index(
                        condition=models.Q(("disputed", True)),
                        fields=["campaign", "id"],
                        name="item_disputed",
                    ),
                    models.Index(fields=["campaign", "state"], name="item_of_campaign_in_state"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Flag",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("reason", models.TextField(verbose_name="reason")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("resolved_at", models.DateTimeField(blank=True, null=True)),
                ("resolution", models.TextField(blank=True, verbose_name="resolution")),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "resolved_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="flags",
                        to="review.item",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True), name="flag_has_reason"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Decision",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("draft_sha256", models.CharField(max_length=64)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("approve", "Approved"),
                            ("edit", "Edited and approved"),
                            ("reject", "Rejected"),
                        ],
                        max_length=7,
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("reason", models.TextField(blank=True, verbose_name="reason")),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "draft",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions",
                        to="pipeline.draft",
                    ),
                ),
                (
                    "edited",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pipeline.draft",
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
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="decisions",
                        to="review.item",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("undone_at", None)),
                        fields=("item",),
                        name="decision_one_an_item",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["approve", "edit", "reject"])),
                        name="decision_kind_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "edit"), ("edited__isnull", False)),
                            models.Q(models.Q(("kind", "edit"), _negated=True), ("edited", None)),
                            _connector="OR",
                        ),
                        name="decision_edit_has_draft",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "reject"), _negated=True),
                            models.Q(("reason", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="decision_reject_has_reason",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Assignment",
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
                        choices=[
                            ("active", "Active"),
                            ("waiting", "Waiting for feedback"),
                            ("submitted", "Submitted"),
                            ("skipped", "Skipped"),
                            ("cannot_judge", "Cannot judge"),
                            ("released", "Released"),
                            ("expired", "Expired"),
                        ],
                        default="active",
                        max_length=12,
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        choices=[
                            ("queue", "From the queue"),
                            ("named", "Assigned by name"),
                            ("tie_break", "Because others differed"),
                            ("take_over", "Taken over"),
                            ("imported", "Imported"),
                        ],
                        default="queue",
                        max_length=9,
                    ),
                ),
                ("position", models.PositiveIntegerField(default=0)),
                ("fence", models.PositiveIntegerField(default=1)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("why", models.TextField(blank=True, verbose_name="reason given")),
                ("active_seconds", models.JSONField(blank=True, default=dict)),
                (
                    "reviewer",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="assignments",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="assignments",
                        to="review.item",
                    ),
                ),
                ("pauses", models.PositiveIntegerField(default=0)),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["active", "waiting", "submitted"])),
                        fields=("item", "reviewer"),
                        name="assignment_once_an_item_and_reviewer",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                [
                                    "active",
                                    "waiting",
                                    "submitted",
                                    "skipped",
                                    "cannot_judge",
                                    "released",
                                    "expired",
                                ],
                            )
                        ),
                        name="assignment_state_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("reason__in", ["queue", "named", "tie_break", "take_over", "imported"])
                        ),
                        name="assignment_reason_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "active"), _negated=True),
                            ("lease_until__isnull", False),
                            _connector="OR",
                        ),
                        name="assignment_active_has_lease",
                    ),
                ],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "active")),
                        fields=["lease_until"],
                        name="assignment_leases",
                    ),
                    models.Index(fields=["reviewer", "state"], name="assignment_of_reviewer"),
                    models.Index(
                        condition=models.Q(("position__gt", 0)),
                        fields=["reviewer", "id"],
                        name="assignment_last_of_reviewer",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Adjudication",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("script", "Script"),
                            ("feedback", "Feedback"),
                            ("refined", "Refined script"),
                        ],
                        max_length=8,
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
                (
                    "value",
                    models.PositiveSmallIntegerField(
                        choices=[(0, "Incorrect"), (1, "Partially correct"), (2, "Correct")]
                    ),
                ),
                ("why", models.TextField(blank=True, verbose_name="why")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("current", models.BooleanField(default=True)),
                ("imported", models.BooleanField(default=False)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="adjudications",
                        to="review.item",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("current", True)),
                        fields=("item", "stage", "arm"),
                        name="adjudication_one_current",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("value__in", [0, 1, 2])),
                        name="adjudication_value_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("stage__in", ["script", "feedback", "refined"])),
                        name="adjudication_stage_legal",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Publication",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "decision",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="publication",
                        to="review.decision",
                    ),
                ),
                (
                    "version",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="publications",
                        to="catalog.version",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Reveal",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "what",
                    models.CharField(
                        choices=[
                            ("verdict", "Verdict and feedback"),
                            ("models", "Model names"),
                            ("reviewers", "Other reviewers"),
                            ("execution", "Execution result"),
                            ("reference", "Reference script"),
                        ],
                        max_length=9,
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reveals",
                        to="review.item",
                    ),
                ),
                (
                    "reviewer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("item", "reviewer", "what"), name="reveal_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "what__in",
                                ["verdict", "models", "reviewers", "execution", "reference"],
                            )
                        ),
                        name="reveal_what_legal",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Rubric",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("number", models.PositiveIntegerField()),
                ("text", models.TextField(verbose_name="text")),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rubrics",
                        to="review.campaign",
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
                "ordering": ["-number"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("campaign", "number"), name="rubric_number_once_a_campaign"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Scratch",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("fields", models.JSONField(default=dict)),
                ("revision", models.PositiveIntegerField(default=0)),
                ("saved_at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scratches",
                        to="review.item",
                    ),
                ),
                (
                    "reviewer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scratches",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "scratches",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("item", "reviewer"), name="scratch_once_an_item_and_reviewer"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Member",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("seed", models.PositiveBigIntegerField(default=0)),
                (
                    "limit",
                    models.PositiveIntegerField(blank=True, null=True, verbose_name="most items"),
                ),
                ("paused_at", models.DateTimeField(blank=True, null=True)),
                ("unblinded_at", models.DateTimeField(blank=True, null=True)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="members",
                        to="review.campaign",
                    ),
                ),
                (
                    "user",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("reached", models.PositiveSmallIntegerField(default=0)),
                ("trained_at", models.DateTimeField(blank=True, null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("campaign", "user"), name="member_once_a_campaign"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Remark",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("line", models.PositiveIntegerField(verbose_name="line")),
                ("text", models.TextField(verbose_name="comment")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("removed_at", models.DateTimeField(blank=True, null=True)),
                (
                    "by",
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
                        related_name="remarks",
                        to="pipeline.draft",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="remarks",
                        to="review.item",
                    ),
                ),
            ],
            options={
                "ordering": ["line", "pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(models.Q(("text", ""), _negated=True), ("line__gte", 1)),
                        name="remark_on_a_line",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ReportLook",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("scored", models.PositiveIntegerField(default=0)),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="looks",
                        to="review.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="ReportSnapshot",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("name", models.CharField(max_length=150, verbose_name="name")),
                ("data", models.JSONField()),
                ("sha256", models.CharField(max_length=64)),
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
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="snapshots",
                        to="review.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("name", ""), _negated=True), name="snapshot_has_name"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="SentBack",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("why", models.TextField(verbose_name="reason")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                ("answered_at", models.DateTimeField(blank=True, null=True)),
                (
                    "assignment",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sent_back",
                        to="review.assignment",
                    ),
                ),
                (
                    "by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "sent back",
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("why", ""), _negated=True), name="sent_back_has_reason"
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("answered_at", None)),
                        fields=("assignment",),
                        name="sent_back_one_open",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="TallyDue",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="review.campaign",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="review.item",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "tallies due",
            },
        ),
        migrations.CreateModel(
            name="Transfer",
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
                            ("items", "Items in"),
                            ("scores", "Scores in"),
                            ("export", "Export"),
                        ],
                        max_length=6,
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
                        max_length=9,
                        verbose_name="state",
                    ),
                ),
                ("filename", models.CharField(max_length=255, verbose_name="file")),
                ("path", models.CharField(blank=True, max_length=500)),
                ("format", models.CharField(blank=True, max_length=20, verbose_name="format")),
                ("mapping", models.JSONField(blank=True, default=dict, verbose_name="columns")),
                ("options", models.JSONField(blank=True, default=dict)),
                ("total_bytes", models.PositiveBigIntegerField(default=0)),
                ("done_bytes", models.PositiveBigIntegerField(default=0)),
                ("rows", models.PositiveBigIntegerField(default=0)),
                ("kept", models.PositiveBigIntegerField(default=0)),
                ("unchanged", models.PositiveBigIntegerField(default=0)),
                ("refused", models.PositiveBigIntegerField(default=0)),
                ("problem", models.TextField(blank=True)),
                ("cancel_asked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "created_at",
                    models.DateTimeField(default=django.utils.timezone.now, editable=False),
                ),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("expires_at", models.DateTimeField(blank=True, null=True)),
                ("owner", models.CharField(blank=True, max_length=100)),
                ("fence", models.PositiveBigIntegerField(default=0)),
                ("lease_until", models.DateTimeField(blank=True, null=True)),
                (
                    "by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="transfers",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="transfers",
                        to="review.campaign",
                    ),
                ),
            ],
            options={
                "ordering": ["-pk"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("kind__in", ["items", "scores", "export"])),
                        name="transfer_kind_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["waiting", "running", "done", "failed", "cancelled"])
                        ),
                        name="transfer_state_legal",
                    ),
                ],
                "indexes": [
                    models.Index(
                        condition=models.Q(("state__in", ["waiting", "running"])),
                        fields=["lease_until"],
                        name="transfer_unfinished",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="TransferLine",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("line", models.PositiveBigIntegerField()),
                ("external_id", models.CharField(blank=True, max_length=200)),
                ("column", models.CharField(blank=True, max_length=100)),
                ("reason", models.TextField()),
                (
                    "transfer",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="lines",
                        to="review.transfer",
                    ),
                ),
            ],
            options={
                "ordering": ["line", "pk"],
            },
        ),
        migrations.CreateModel(
            name="Tally",
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
                            ("item", "Items by what they bring to the figures"),
                            ("values", "Items by the values given at a stage"),
                            ("pair", "Pairs of scores by two reviewers at a stage"),
                            ("joint", "Cases by what two of their arms bring"),
                            ("sum", "What adds up over items"),
                        ],
                        max_length=6,
                    ),
                ),
                ("pattern", models.TextField()),
                ("count", models.BigIntegerField(default=0)),
                (
                    "campaign",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tallies",
                        to="review.campaign",
                    ),
                ),
                (
                    "configuration",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="pipeline.configuration",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "tallies",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("campaign", "configuration", "kind", "pattern"), name="tally_once"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Score",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "stage",
                    models.CharField(
                        choices=[
                            ("script", "Script"),
                            ("feedback", "Feedback"),
                            ("refined", "Refined script"),
                        ],
                        max_length=8,
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
                (
                    "value",
                    models.PositiveSmallIntegerField(
                        choices=[(0, "Incorrect"), (1, "Partially correct"), (2, "Correct")]
                    ),
                ),
                ("current", models.BooleanField(default=True)),
                ("blind", models.BooleanField(default=True)),
                ("imported", models.BooleanField(default=False)),
                ("comment", models.TextField(blank=True, verbose_name="comment")),
                ("at", models.DateTimeField(default=django.utils.timezone.now)),
                (
                    "visible",
                    models.JSONField(blank=True, default=dict, verbose_name="what was visible"),
                ),
                (
                    "view",
                    models.CharField(
                        choices=[("plain", "Plain"), ("diff", "Diff")],
                        default="plain",
                        max_length=5,
                    ),
                ),
                ("position", models.PositiveIntegerField(default=0)),
                ("sitting_minutes", models.FloatField(blank=True, null=True)),
                ("active_seconds", models.FloatField(blank=True, null=True)),
                (
                    "assignment",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="scores",
                        to="review.assignment",
                    ),
                ),
                (
                    "draft",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="scores",
                        to="pipeline.draft",
                    ),
                ),
                (
                    "feedback",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="scores",
                        to="pipeline.feedback",
                    ),
                ),
                (
                    "item",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="scores",
                        to="review.item",
                    ),
                ),
                (
                    "reviewer",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="scores",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "rubric",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="review.rubric",
                    ),
                ),
                ("undone_at", models.DateTimeField(blank=True, null=True)),
                (
                    "earlier_by",
                    models.JSONField(
                        blank=True,
                        db_default=models.Value({}, models.JSONField()),
                        default=dict,
                        verbose_name="earlier stages scored by",
                    ),
                ),
            ],
            options={
                "ordering": ["pk"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("current", True)),
                        fields=("item", "reviewer", "stage", "arm"),
                        name="score_one_current",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("value__in", [0, 1, 2])), name="score_value_legal"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("stage__in", ["script", "feedback", "refined"])),
                        name="score_stage_legal",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("arm__in", ["model", "expert"])), name="score_arm_legal"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("view__in", ["plain", "diff"])), name="score_view_legal"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("stage", "script"), _negated=True),
                            ("arm", "model"),
                            _connector="OR",
                        ),
                        name="score_script_has_no_arm",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("imported", True),
                            models.Q(
                                ("draft", None), ("feedback__isnull", False), ("stage", "feedback")
                            ),
                            models.Q(
                                ("draft__isnull", False),
                                ("feedback", None),
                                ("stage__in", ["script", "refined"]),
                            ),
                            _connector="OR",
                        ),
                        name="score_names_what_was_seen",
                    ),
                ],
                "indexes": [models.Index(fields=["reviewer", "-id"], name="score_of_reviewer")],
            },
        ),
    ]
