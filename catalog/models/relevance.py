"""Users' labels for retrieved versions, thresholds based on the labels, and fitted scorings."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from catalog.models.entry import Version


class MatchLabelQuerySet(models.QuerySet["MatchLabel"]):
    def counting(self) -> MatchLabelQuerySet:
        """Return the labels that were not withdrawn."""
        return self.filter(undone_at=None)

    def of_scoring(self) -> MatchLabelQuerySet:
        """Return the labels that measure the scoring. Matches that a model confirmed are not a fair sample."""
        return self.counting().filter(confirmed_by="")


class MatchLabel(models.Model):
    """A user's label for a retrieved version: match, starting point or no match.

    Labels never change. Withdrawn labels are stored but excluded from statistics.
    """

    class Label(models.TextChoices):
        MATCH = "match", _("Match")
        ADAPT = "adapt", _("Starting point")
        NO_MATCH = "no_match", _("No match")

    class Picked(models.TextChoices):
        """How the case was chosen. Borderline and random cases do not show how frequent such cases are."""

        ASKED = "asked", _("By the requester")
        BORDERLINE = "borderline", _("Picked near the threshold")
        RANDOM = "random", _("Picked at random")

    statement = models.TextField(_("statement"))
    version = models.ForeignKey(Version, models.CASCADE, related_name="labels")
    label = models.CharField(_("label"), max_length=8, choices=Label)
    confidence = models.FloatField(_("confidence shown"), null=True, blank=True)
    scoring = models.CharField(_("scorer"), max_length=40, blank=True)
    # The model that confirmed the match before the page showed it, or empty.
    confirmed_by = models.CharField(
        _("match confirmed by"), max_length=100, blank=True, default="", db_default=""
    )
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)
    picked = models.CharField(
        max_length=10, choices=Picked, default=Picked.ASKED, db_default="asked"
    )
    undone_at = models.DateTimeField(null=True, blank=True)

    objects = MatchLabelQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(label__in=["match", "adapt", "no_match"]), name="match_label_legal"
            ),
            models.CheckConstraint(
                condition=Q(picked__in=["asked", "borderline", "random"]),
                name="match_label_picked_legal",
            ),
        ]
        permissions = [("label_matches", _("Can label matches for calibration"))]

    def __str__(self) -> str:
        return f"{self.label}: {self.statement[:60]}"


class LabelScore(models.Model):
    """A scoring's confidence in a labeled case. Thresholds are based on these confidences."""

    label = models.ForeignKey(MatchLabel, models.CASCADE, related_name="scores")
    scoring = models.CharField(_("scorer"), max_length=40)
    confidence = models.FloatField(_("confidence"))
    # False if a rule forbids a match at any threshold, for example because a literal, verb or negation differs.
    may_match = models.BooleanField(_("rules allow a match"))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["label", "scoring"], name="label_score_once_a_scoring"),
            models.CheckConstraint(
                condition=Q(confidence__gte=0, confidence__lte=1), name="label_score_in_range"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label_id} under {self.scoring}: {self.confidence:.2f}"


class ScoringModel(models.Model):
    """A relevance model fitted to this team's labels. It never changes. The shipped model has no row."""

    name = models.CharField(_("version"), max_length=40, unique=True)
    document = models.JSONField(_("document"))
    # The scoring on which the fit is based. The fitted model uses the same words and trees.
    based_on = models.CharField(_("based on"), max_length=40)
    labels = models.PositiveIntegerField(_("labels"))
    # Results on held-out labels for this scoring and for the scoring that was current at that time.
    measured = models.JSONField(_("measured"), default=dict)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return self.name


class ScoringChoice(models.Model):
    """The choice of a scoring, with user and reason. The newest choice applies. Older choices are kept as history."""

    scoring = models.CharField(_("scorer"), max_length=40)
    # Null for the shipped scoring.
    model = models.ForeignKey(
        ScoringModel, models.PROTECT, null=True, blank=True, related_name="choices"
    )
    why = models.TextField(_("reason"), blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.scoring} since {self.at:%Y-%m-%d}"


class Threshold(models.Model):
    """The lowest confidences of a match and of a starting point. The newest threshold applies."""

    scoring = models.CharField(_("scorer"), max_length=40)
    match = models.FloatField(_("match threshold"))
    adapt = models.FloatField(_("starting point threshold"))
    wanted_precision = models.FloatField(_("target precision"), null=True, blank=True)
    labels = models.PositiveIntegerField(_("labels used to choose the threshold"), default=0)
    # The number of labels at or above the match threshold, and how many of those labels are matches.
    above = models.PositiveIntegerField(
        _("labels at or above the threshold"), null=True, blank=True
    )
    above_right = models.PositiveIntegerField(
        _("correct labels at or above the threshold"), null=True, blank=True
    )
    why = models.TextField(_("reason"), blank=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(match__gte=0, match__lte=1, adapt__gte=0, adapt__lte=1),
                name="threshold_in_range",
            )
        ]
        permissions = [("set_threshold", _("Can set the match threshold"))]

    def __str__(self) -> str:
        return f"{self.scoring}: match from {self.match:.2f}"
