"""Models for a set of reviews, its guidelines and its reviewers: Campaign, Rubric and Member."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext_lazy as _

from pipeline.models import Batch, Configuration


class Campaign(models.Model):
    """A set of items to review under common rules: a study, or the review queue, which never closes."""

    class Kind(models.TextChoices):
        LIVE = "live", _("Review queue")
        STUDY = "study", _("Study")

    class State(models.TextChoices):
        SETUP = "setup", _("Being set up")
        # Reviewers get only the pilot's items.
        PILOT = "pilot", _("Pilot")
        OPEN = "open", _("Open")
        PAUSED = "paused", _("Paused")
        CLOSED = "closed", _("Closed")

    class Order(models.TextChoices):
        PRIORITY = "priority", _("Priority, then oldest")
        OLDEST = "oldest", _("Oldest first")
        RANDOM = "random", _("Random for each reviewer")

    name = models.CharField(_("name"), max_length=150, unique=True)
    description = models.TextField(_("description"), blank=True)
    kind = models.CharField(_("kind"), max_length=5, choices=Kind, default=Kind.STUDY)
    state = models.CharField(_("state"), max_length=6, choices=State, default=State.SETUP)
    overlap = models.PositiveSmallIntegerField(_("reviewers per item"), default=1)
    # To measure agreement, a share of the items can have more reviewers than the other items.
    extra_overlap = models.PositiveSmallIntegerField(
        _("reviewers per item of the share"), null=True, blank=True
    )
    extra_share = models.PositiveSmallIntegerField(_("items with extra reviewers (%)"), default=0)
    order = models.CharField(_("order"), max_length=8, choices=Order, default=Order.RANDOM)
    seed = models.PositiveBigIntegerField(_("seed of the random order"), default=0)

    # Data that reviewers see only after scoring the stage. Each score records the visible data.
    hides_verdict = models.BooleanField(
        _("hides verdict and feedback until the script is scored"), default=True
    )
    hides_models = models.BooleanField(_("hides model names"), default=True)
    hides_reviewers = models.BooleanField(_("hides other reviewers"), default=True)
    hides_execution = models.BooleanField(_("hides execution results"), default=True)
    hides_reference = models.BooleanField(_("hides the reference script"), default=True)
    # Lets reviewers view hidden data, such as the verdict, before scoring. A Reveal records the request.
    may_reveal = models.BooleanField(_("lets reviewers reveal what is hidden"), default=False)

    open_to_all = models.BooleanField(_("open to every reviewer"), default=False)
    limit_each = models.PositiveIntegerField(_("maximum items per reviewer"), null=True, blank=True)
    # Feedback and refinement are created for every item before review, because their presence would otherwise reveal
    # the verdict.
    prepares_all = models.BooleanField(
        _("prepares feedback and refinement for every item"), default=True
    )
    # Disabled by default, because an example may reveal the answer to a study's statement.
    uses_examples = models.BooleanField(
        _("shows verified entries as examples"), default=False, db_default=False
    )
    pilot_size = models.PositiveIntegerField(_("pilot size"), null=True, blank=True)
    # The manager decides before the main phase. If false, the figures exclude the pilot's scores.
    pilot_counts = models.BooleanField(
        _("counts the scores of the pilot"), default=False, db_default=False
    )
    edit_minutes = models.PositiveIntegerField(
        _("time allowed for changing a score (minutes)"), default=60
    )
    sham_share = models.PositiveSmallIntegerField(_("sham share (%)"), default=0)
    halo_share = models.PositiveSmallIntegerField(_("halo share (%)"), default=0)
    repeat_share = models.PositiveSmallIntegerField(_("repeats (%)"), default=0)
    planned_items = models.PositiveIntegerField(_("planned number of items"), null=True, blank=True)
    # The primary comparison, chosen before the campaign opens: one figure under one criterion, from the first to the
    # second Configuration. Its p value is not adjusted.
    primary_figure = models.CharField(_("primary figure"), max_length=60, blank=True)
    primary_criterion = models.CharField(
        _("primary criterion"), max_length=7, blank=True, default="", db_default=""
    )
    primary_first = models.ForeignKey(
        Configuration,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("primary pair, first"),
    )
    primary_second = models.ForeignKey(
        Configuration,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("primary pair, second"),
    )
    # The time when the primary outcome was chosen, and the numbers of scores and report views until then (see
    # `rules.note_primary`).
    primary_chosen = models.JSONField(_("when it was chosen"), null=True, blank=True)
    # The comparisons under Holm's correction, fixed when the campaign opens. Each is a `review.study.family.Hypothesis`
    # as a list. None for campaigns that opened before this field existed.
    p_family = models.JSONField(_("family of p values"), null=True, blank=True)
    # The assumptions and curve behind the planned number of items (`services.planning.Plan` as JSON).
    plan = models.JSONField(_("plan"), null=True, blank=True)

    batch = models.OneToOneField(
        Batch, models.PROTECT, null=True, blank=True, related_name="campaign"
    )
    configurations = models.ManyToManyField(Configuration, blank=True, related_name="campaigns")
    cloned_from = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="clones"
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)
    closed_at = models.DateTimeField(_("closed"), null=True, blank=True)

    class Meta:
        verbose_name = _("study")
        verbose_name_plural = _("studies")
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind"], condition=Q(kind="live"), name="campaign_one_live_queue"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["live", "study"]), name="campaign_kind_legal"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["setup", "pilot", "open", "paused", "closed"]),
                name="campaign_state_legal",
            ),
            models.CheckConstraint(
                condition=Q(order__in=["priority", "oldest", "random"]), name="campaign_order_legal"
            ),
            models.CheckConstraint(condition=Q(overlap__gte=1), name="campaign_overlap_positive"),
            models.CheckConstraint(
                condition=~Q(kind="live") | Q(overlap=1), name="campaign_live_overlap_one"
            ),
            models.CheckConstraint(
                condition=Q(primary_criterion__in=["", "strict", "partial"]),
                name="campaign_primary_criterion_legal",
            ),
            models.CheckConstraint(
                condition=Q(
                    sham_share__lte=100,
                    halo_share__lte=100,
                    repeat_share__lte=100,
                    extra_share__lte=100,
                ),
                name="campaign_shares_in_percent",
            ),
        ]
        permissions = [
            ("manage_campaigns", _("Can manage campaigns, reports and flags")),
            ("review", _("Can review: score and decide")),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_live(self) -> bool:
        return self.kind == Campaign.Kind.LIVE

    @cached_property
    def is_scored_elsewhere(self) -> bool:
        """Return whether the scores were imported and no item is waiting for a reviewer. Lists annotate this value."""
        return Campaign.objects.filter(scored_elsewhere(), pk=self.pk).exists()

    def get_state_display(self) -> str:  # type: ignore[no-redef]
        """Return the label of the state, or "Imported" for a study in setup whose scores were all imported."""
        is_imported = self.state == Campaign.State.SETUP and self.is_scored_elsewhere
        return str(_("Imported") if is_imported else Campaign.State(self.state).label)


def scored_elsewhere() -> Q:
    """Return a condition for unopened campaigns that have imported scores and no items waiting for a reviewer."""
    item = Campaign._meta.get_field("items").related_model
    items = item._default_manager.filter(campaign=OuterRef("pk"))
    waiting = items.filter(state__in=["preparing", "held", "open"])
    is_scored = Exists(items.filter(scores__imported=True))
    return Q(is_scored, ~Exists(waiting), state=Campaign.State.SETUP)


class Rubric(models.Model):
    """A version of a campaign's guidelines in Markdown. Each score references the version that applied to it."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="rubrics")
    number = models.PositiveIntegerField()
    text = models.TextField(_("text"))
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ["-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "number"], name="rubric_number_once_a_campaign"
            )
        ]

    def __str__(self) -> str:
        return f"{self.campaign.name}, rubric {self.number}"


class Member(models.Model):
    """A reviewer of a campaign, with an individual item order, limit and pause."""

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="members")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="memberships")
    seed = models.PositiveBigIntegerField(default=0)
    # The reviewer's progress in the random order, in 4096ths (see `review.queue.reviewer_order`).
    reached = models.PositiveSmallIntegerField(default=0)
    limit = models.PositiveIntegerField(_("maximum items"), null=True, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    # The time when the reviewer finished the training. Until then, the reviewer gets only training items.
    trained_at = models.DateTimeField(null=True, blank=True)
    # The time when the reviewer first saw verdicts of this campaign's items and was unblinded.
    unblinded_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "user"], name="member_once_a_campaign")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in {self.campaign_id}"
