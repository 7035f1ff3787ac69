"""API output for calibration: figures, thresholds, scorings, cases and labels."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers

from catalog.calibration import services
from catalog.calibration.page_data import Figures, show_figures
from catalog.models import Job, MatchLabel, ScoringChoice, ScoringModel, Threshold
from catalog.retrieval.scoring import current_scoring


class ShareOutput(serializers.Serializer[Any]):
    """A proportion with its 95% interval, or null if there are no cases."""

    right = serializers.IntegerField()
    count = serializers.IntegerField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(source="interval.low", default=None)
    high = serializers.FloatField(source="interval.high", default=None)


class PointOutput(serializers.Serializer[Any]):
    """The result of answering all labeled cases with at least this confidence."""

    threshold = serializers.FloatField()
    coverage = serializers.FloatField()
    share = ShareOutput()


class BinOutput(serializers.Serializer[Any]):
    """Cases of similar confidence: the mean confidence, and the proportion of matches."""

    low = serializers.FloatField()
    high = serializers.FloatField()
    promised = serializers.FloatField()
    share = ShareOutput()


class FitOutput(serializers.ModelSerializer[Job]):
    """A fit to this team's labels, and its progress."""

    by = serializers.CharField(source="by.username", default=None)

    class Meta:
        model = Job
        fields: ClassVar = (
            "id", "state", "done", "total", "report", "trouble", "by", "created_at"
        )  # fmt: skip


class ConfirmedOutput(serializers.Serializer[Any]):
    """How many matches confirmed by a model were also labeled as matches by requesters."""

    model = serializers.CharField()
    share = ShareOutput()


class CalibrationOutput(serializers.Serializer[Any]):
    """Label statistics for the current scoring."""

    scoring = serializers.CharField()
    match = serializers.FloatField()
    adapt = serializers.FloatField()
    cases = serializers.IntegerField()
    unscored = serializers.IntegerField(help_text="Labels that the scorer has not scored yet.")
    now = PointOutput(help_text="Figures at the current threshold.")
    calibration_error = serializers.FloatField(allow_null=True)
    curve = PointOutput(many=True)
    bins = BinOutput(many=True)
    suggested = PointOutput(
        allow_null=True, help_text="The lowest threshold that reaches the target precision, if any."
    )
    is_few = serializers.BooleanField(
        help_text="Whether the suggestion is based on too few labels."
    )
    newest_threshold = serializers.IntegerField(
        help_text="Send this value as `seen` when you set a threshold."
    )
    confirmed = ConfirmedOutput(
        many=True,
        help_text="Matches confirmed by a model. They are not included in the scorer's figures.",
    )
    fit = FitOutput(allow_null=True, help_text="The latest fit.")


class ThresholdOutput(serializers.ModelSerializer[Threshold]):
    by = serializers.CharField(source="by.username", default=None)

    class Meta:
        model = Threshold
        fields: ClassVar = (
            "id", "scoring", "match", "adapt", "wanted_precision", "labels", "above",
            "above_right", "why", "by", "at",
        )  # fmt: skip


class ScoringOutput(serializers.ModelSerializer[ScoringModel]):
    by = serializers.CharField(source="by.username", default=None)

    class Meta:
        model = ScoringModel
        fields: ClassVar = ("name", "based_on", "labels", "measured", "by", "at")


class ChoiceOutput(serializers.ModelSerializer[ScoringChoice]):
    by = serializers.CharField(source="by.username", default=None)

    class Meta:
        model = ScoringChoice
        fields: ClassVar = ("scoring", "why", "by", "at")


class CaseOutput(serializers.Serializer[Any]):
    """An unlabeled case with its current judgment."""

    statement = serializers.CharField()
    version_id = serializers.IntegerField(source="version.pk")
    entry = serializers.CharField(source="version.entry.slug")
    title = serializers.CharField(source="version.entry.title")
    script = serializers.CharField(source="version.script")
    answer = serializers.CharField(source="judgement.answer")
    confidence = serializers.FloatField()
    may_match = serializers.BooleanField(help_text="False if a rule blocks a match.")
    reasons = serializers.ListField(child=serializers.CharField(), source="judgement.reasons")
    differs = serializers.ListField(child=serializers.CharField(), source="judgement.differs")
    scoring = serializers.CharField()
    picked = serializers.CharField()


class LabelOutput(serializers.ModelSerializer[MatchLabel]):
    version_id = serializers.IntegerField()
    entry = serializers.CharField(source="version.entry.slug")

    class Meta:
        model = MatchLabel
        fields: ClassVar = (
            "id", "statement", "version_id", "entry", "label", "picked", "confidence",
            "scoring", "at", "undone_at",
        )  # fmt: skip


def show_calibration(*, wanted: float | None) -> dict[str, object]:
    """Return the values of `CalibrationOutput`. `wanted` is the target precision, from 0 to 1."""
    model = current_scoring()
    cases = services.read_cases(model.version)
    figures: Figures = show_figures(cases, model, wanted=wanted * 100 if wanted else None)
    newest = Threshold.objects.values_list("pk", flat=True).first()
    return {
        "scoring": model.version,
        "match": model.match_threshold,
        "adapt": model.adapt_threshold,
        "cases": figures.cases,
        "unscored": services.unscored(model.version).count(),
        "now": figures.now,
        "calibration_error": figures.error,
        "curve": figures.curve,
        "bins": figures.bins,
        "suggested": figures.suggested,
        "is_few": figures.is_few,
        "newest_threshold": newest or 0,
        "confirmed": services.confirmed_matches(),
        "fit": Job.objects.filter(kind=Job.Kind.FIT).select_related("by").first(),
    }
