"""Reports in the API: the same JSON documents that the command and the pages use."""

from __future__ import annotations

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.web.public_keys import ITEM, PublicKeyField
from core.web.requests import read_body, read_key, signed_in
from review.access import access_report, access_snapshots
from review.campaigns.looks import log_look
from review.models import Campaign, ReportLook, ReportSnapshot
from review.report.figure_items import explain_execution
from review.report.services import recent_report
from review.report.snapshots import take_snapshot
from review.report.threats.counts import recent_threats
from review.study.figures import EXECUTION_REASONS


class ReportOut(serializers.Serializer[Any]):
    """Figures and agreement as in `study_report --json`. `details` contains the page's other data."""

    campaign = serializers.CharField()
    items = serializers.IntegerField()
    configurations = serializers.ListField(
        child=serializers.DictField(),
        help_text="Configurations with `name`, and the numbers of each figure under `strict` and "
        "`partial`.",
    )
    agreement = serializers.DictField(help_text="Measures and pairs by stage.")
    details = serializers.DictField()


class SnapshotOut(serializers.ModelSerializer[ReportSnapshot]):
    by = serializers.CharField(source="by.username", default="")

    class Meta:
        model = ReportSnapshot
        fields = ["id", "name", "sha256", "by", "at"]


class SnapshotDataOut(SnapshotOut):
    class Meta(SnapshotOut.Meta):
        fields = [*SnapshotOut.Meta.fields, "data"]


class SnapshotIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=150)


class ReasonIn(serializers.Serializer[Any]):
    item = PublicKeyField(ITEM, help_text="ID of an item of this study.")
    reason = serializers.ChoiceField(choices=["", *EXECUTION_REASONS], allow_blank=True)


class ReportViewSet(viewsets.GenericViewSet[Campaign]):
    """The report of a study, by campaign ID, for managers."""

    queryset = Campaign.objects.none()
    serializer_class: type[serializers.BaseSerializer[Any]] = ReportOut
    filter_backends = ()
    pagination_class = None
    lookup_value_regex = "[0-9]{1,18}"
    required_scope = "manage"

    @extend_schema(responses=ReportOut)
    def retrieve(self, request: Request, pk: str) -> Response:
        """Return the report as of `details.at`. A large study's report may be a few seconds old. Record the view."""
        user = signed_in(request)
        campaign = access_report(user, read_key(pk))
        report = recent_report(campaign)
        log_look(campaign, ReportLook.What.REPORT, by=user)
        return Response(report)

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True, methods=["get"])
    def threats(self, request: Request, pk: str) -> Response:
        """Return the numbers for each threat to validity, at most five minutes old. The view is recorded."""
        user = signed_in(request)
        campaign = access_report(user, read_key(pk))
        threats = recent_threats(campaign)
        log_look(campaign, ReportLook.What.THREATS, by=user)
        return Response(threats)

    @extend_schema(responses=SnapshotOut(many=True))
    @action(detail=True, methods=["get"])
    def snapshots(self, request: Request, pk: str) -> Response:
        """List the report's snapshots, newest first."""
        kept = access_report(signed_in(request), read_key(pk)).snapshots.defer("data")
        return Response(SnapshotOut(kept.select_related("by"), many=True).data)

    @extend_schema(request=SnapshotIn, responses={201: SnapshotOut})
    @snapshots.mapping.post
    def take_snapshot(self, request: Request, pk: str) -> Response:
        """Save a snapshot of the current report."""
        user = signed_in(request)
        campaign = access_report(user, read_key(pk))
        given = read_body(SnapshotIn, request)
        snapshot = take_snapshot(campaign, name=given["name"], by=user)
        return Response(SnapshotOut(snapshot).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=ReasonIn, responses={204: None})
    @action(detail=True, methods=["post"], url_path="execution-reason")
    def execution_reason(self, request: Request, pk: str) -> Response:
        """Record why the sandbox result and the experts disagree on an item."""
        user = signed_in(request)
        campaign = access_report(user, read_key(pk))
        given = read_body(ReasonIn, request)
        item = get_object_or_404(campaign.items, pk=given["item"])
        explain_execution(item, reason=given["reason"], by=user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class SnapshotViewSet(viewsets.GenericViewSet[ReportSnapshot]):
    """A saved snapshot of a report."""

    queryset = ReportSnapshot.objects.none()
    serializer_class = SnapshotDataOut
    lookup_value_regex = "[0-9]{1,18}"
    required_scope = "manage"

    def retrieve(self, request: Request, pk: str) -> Response:
        """Return a snapshot. `sha256` is the hash of `data` as JSON with sorted keys and no spaces. Record the view."""
        user = signed_in(request)
        snapshots = access_snapshots(user).select_related("by", "campaign")
        snapshot = get_object_or_404(snapshots, pk=pk)
        log_look(snapshot.campaign, ReportLook.What.SNAPSHOT, by=user)
        return Response(SnapshotDataOut(snapshot).data)
