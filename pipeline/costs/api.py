"""The API for spending, with the sums on the costs page."""

from __future__ import annotations

from drf_spectacular.helpers import forced_singular_serializer
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from core.errors import BadInput
from core.web.requests import signed_in
from pipeline.access import access_spending
from pipeline.costs.forms import CostForm
from pipeline.costs.services import By, Per, read_costs
from pipeline.models import Spending


class SumsSerializer(serializers.Serializer[object]):
    """Sums over finished attempts. `cost` excludes calls without a price, which are counted in `unpriced`."""

    calls = serializers.IntegerField(source="attempts")
    answered = serializers.IntegerField()
    possibly_billed = serializers.IntegerField(help_text="Attempts that ended without a reply.")
    unpriced = serializers.IntegerField(help_text="Replies without a known price on that day.")
    demo_calls = serializers.IntegerField(source="demo", help_text="Free calls to the demo model.")
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    cache_read_tokens = serializers.IntegerField()
    cache_write_tokens = serializers.IntegerField()
    cost = serializers.SerializerMethodField(help_text="USD; null if no price is known.")
    milliseconds = serializers.IntegerField(help_text="Model time.")

    def get_cost(self, sums: object) -> float | None:
        known = getattr(sums, "known_cost", None)
        return None if known is None else known / 1_000_000


class SpendingRowSerializer(serializers.Serializer[object]):
    """One day or month of one model, configuration, batch or stage."""

    period = serializers.DateField(help_text="First day of the period, in UTC.")
    key = serializers.CharField(help_text="Empty if the calls have no batch.")
    name = serializers.CharField()
    endpoint = serializers.CharField(help_text="Set if the costs are split by model.")
    sums = SumsSerializer()


class UnpricedSerializer(serializers.Serializer[object]):
    """A model with replies that have no price."""

    endpoint = serializers.CharField()
    model = serializers.CharField()
    calls = serializers.IntegerField()


class SpendingSerializer(serializers.Serializer[object]):
    """The cost and duration of model calls in a range."""

    since = serializers.DateField(source="query.since")
    until = serializers.DateField(source="query.until")
    per = serializers.CharField(source="query.per")
    by = serializers.CharField(source="query.by")
    rows = SpendingRowSerializer(many=True)
    total = SumsSerializer()
    unpriced = UnpricedSerializer(many=True)


class SpendingViewSet(viewsets.GenericViewSet[Spending]):
    """Model calls and their cost, for campaign managers and administrators."""

    queryset = Spending.objects.none()
    filter_backends = ()
    pagination_class = None

    @extend_schema(
        responses=forced_singular_serializer(SpendingSerializer),  # type: ignore[no-untyped-call]
        parameters=[
            OpenApiParameter("since", str, description="First day, such as 2026-10-01."),
            OpenApiParameter("until", str, description="Last day. Default: today."),
            OpenApiParameter("per", str, enum=[per.value for per in Per]),
            OpenApiParameter("by", str, enum=[by.value for by in By]),
            OpenApiParameter("configuration", str, description="Only this configuration, by name."),
            OpenApiParameter("batch", int, description="Only this batch, by number."),
        ],
    )
    def list(self, request: Request) -> Response:
        """Return sums by day or month, grouped by model, configuration, batch or stage, and the total."""
        user = signed_in(request)
        access_spending(user)
        form = CostForm(request.query_params)
        if not form.is_valid():
            name, messages = next(iter(form.errors.items()))
            raise BadInput(str(messages[0]), field=name)
        return Response(SpendingSerializer(read_costs(form.query, by=user)).data)
