"""The calibration API. It calls the same services as the pages."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.helpers import forced_singular_serializer
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.access import CURATE_SCOPE, MANAGE_SCOPE, require
from catalog.calibration import services
from catalog.calibration.serializers import (
    CalibrationOutput,
    CaseOutput,
    ChoiceOutput,
    FitOutput,
    LabelOutput,
    ScoringOutput,
    ThresholdOutput,
    show_calibration,
)
from catalog.calibration.services.labels import LABEL_MATCHES
from catalog.calibration.services.thresholds import SET_THRESHOLD
from catalog.models import MatchLabel, ScoringModel, Threshold
from core.errors import BadInput
from core.web.requests import read_body, read_key, read_query, signed_in


class WantedInput(serializers.Serializer[Any]):
    precision = serializers.FloatField(
        required=False,
        min_value=0.01,
        max_value=1,
        help_text="Find the lowest threshold with this precision.",
    )


class ThresholdInput(serializers.Serializer[Any]):
    match = serializers.FloatField(help_text="Lowest confidence at which an entry is a match.")
    adapt = serializers.FloatField(
        help_text="Lowest confidence at which an entry is a starting point."
    )
    why = serializers.CharField(max_length=2000)
    wanted_precision = serializers.FloatField(required=False, min_value=0.01, max_value=1)
    seen = serializers.IntegerField(
        required=False,
        help_text=(
            "Key of the threshold that you saw, or 0 for none. The request is refused if the threshold has changed "
            "since."
        ),
    )


class ChoiceInput(serializers.Serializer[Any]):
    scoring = serializers.CharField(
        allow_blank=True, help_text="Name of one of the team's scorers; empty for the shipped one."
    )
    why = serializers.CharField(max_length=2000)


class SkipInput(serializers.Serializer[Any]):
    skip = serializers.CharField(required=False, help_text="Statement of a pair to skip.")
    version = serializers.IntegerField(required=False, help_text="Version of that pair.")


class LabelInput(serializers.ModelSerializer[MatchLabel]):
    """A user's label for a case. `picked` repeats the value of the case."""

    statement = serializers.CharField(max_length=20_000, trim_whitespace=False)
    version_id = serializers.IntegerField()

    class Meta:
        model = MatchLabel
        fields = ("statement", "version_id", "label", "picked")
        extra_kwargs: ClassVar = {"picked": {"required": True}}


class CalibrationViewSet(viewsets.ViewSet):
    """Label statistics for the current scoring."""

    required_scope = CURATE_SCOPE

    @extend_schema(
        parameters=[WantedInput],
        responses=forced_singular_serializer(CalibrationOutput),  # type: ignore[no-untyped-call]
    )
    def list(self, request: Request) -> Response:
        """Return precision by coverage, reliability, and the threshold for a target precision."""
        require(signed_in(request), LABEL_MATCHES, SET_THRESHOLD)
        wanted = read_query(WantedInput, request).get("precision")
        shown = show_calibration(wanted=wanted)
        return Response(CalibrationOutput(shown).data)

    @extend_schema(request=None, responses={202: FitOutput})
    @action(detail=False, methods=["post"])
    def fit(self, request: Request) -> Response:
        """Start a background job that fits a scoring to this team's labels. The current scoring stays in use."""
        job = services.begin_fit(by=signed_in(request))
        return Response(FitOutput(job).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=ChoiceInput, responses={201: ChoiceOutput})
    @action(detail=False, methods=["post"])
    def choose(self, request: Request) -> Response:
        """Switch to another scoring, or back to the shipped scoring."""
        by = signed_in(request)
        require(by, SET_THRESHOLD)
        said = read_body(ChoiceInput, request)
        name = said["scoring"]
        model = ScoringModel.objects.filter(name=name).first() if name else None
        if name and model is None:
            raise BadInput(_("This scorer does not exist."), field="scoring")
        choice = services.choose_scoring(model, by=by, why=said["why"])
        return Response(ChoiceOutput(choice).data, status=status.HTTP_201_CREATED)


class ThresholdViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Threshold]):
    """All thresholds with their author, reason and date, newest first."""

    serializer_class = ThresholdOutput
    required_scope = CURATE_SCOPE
    queryset = Threshold.objects.none()

    def get_queryset(self) -> QuerySet[Threshold]:
        require(signed_in(self.request), LABEL_MATCHES, SET_THRESHOLD)
        return Threshold.objects.select_related("by")

    @extend_schema(request=ThresholdInput, responses={201: ThresholdOutput})
    def create(self, request: Request) -> Response:
        """Set the confidence at which an entry becomes a match."""
        by = signed_in(request)
        require(by, SET_THRESHOLD)
        threshold = services.set_threshold(by=by, **read_body(ThresholdInput, request))
        return Response(ThresholdOutput(threshold).data, status=status.HTTP_201_CREATED)


class ScoringViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[ScoringModel]):
    """Scorings fitted to this team's labels, newest first, without the shipped scoring."""

    serializer_class = ScoringOutput
    queryset = ScoringModel.objects.none()

    def get_queryset(self) -> QuerySet[ScoringModel]:
        require(signed_in(self.request), LABEL_MATCHES, SET_THRESHOLD)
        return ScoringModel.objects.select_related("by").defer("document")


class MatchLabelViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[MatchLabel]):
    """The user's labels for picked cases, newest first. Also offers the next case to label."""

    serializer_class = LabelOutput
    required_scope = MANAGE_SCOPE
    queryset = MatchLabel.objects.none()

    def get_queryset(self) -> QuerySet[MatchLabel]:
        by = signed_in(self.request)
        require(by, LABEL_MATCHES)
        labels = MatchLabel.objects.filter(by=by).exclude(picked=MatchLabel.Picked.ASKED)
        return labels.select_related("version__entry").defer("version__entry__document")

    @extend_schema(
        parameters=[SkipInput],
        responses={200: CaseOutput, 204: OpenApiResponse(description="No pair to label.")},
    )
    @action(detail=False, url_path="next")
    def next_case(self, request: Request) -> Response:
        """Return the next case to label, usually near the threshold and sometimes at random."""
        require(signed_in(request), LABEL_MATCHES)
        said = read_query(SkipInput, request)
        left_out = [(said["skip"], said["version"])] if {"skip", "version"} <= said.keys() else []
        case = services.next_case(skip=left_out)
        if case is None:
            return Response(status=status.HTTP_204_NO_CONTENT)
        return Response(CaseOutput(case).data)

    @extend_schema(request=LabelInput, responses={201: LabelOutput})
    def create(self, request: Request) -> Response:
        """Label a case as match, adapt or no match."""
        by = signed_in(request)
        require(by, LABEL_MATCHES)
        label = services.label_case(by=by, **read_body(LabelInput, request))
        return Response(LabelOutput(label).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses=LabelOutput)
    @action(detail=True, methods=["post"])
    def undo(self, request: Request, pk: str) -> Response:
        """Withdraw your own label. The case will be offered again."""
        by = signed_in(request)
        require(by, LABEL_MATCHES)
        label = get_object_or_404(MatchLabel, pk=read_key(pk))
        services.undo_label(label, by=by)
        label.refresh_from_db()
        return Response(LabelOutput(label).data)
