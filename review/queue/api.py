"""The queue in the API: the caller's waiting items and, for managers, all assignments."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.actor import find_user
from core.web.pagination import KeysetPagination
from core.web.public_keys import ITEM, PublicKeyField
from core.web.requests import read_body, signed_in
from review.access import access_campaigns, access_managed_item, access_queue
from review.models import Assignment, Item, SentBack
from review.queue import services
from review.queue.api_filters import AssignmentFilter, QueueFilter


class QueueItemOut(serializers.ModelSerializer[Item]):
    """A waiting item with its request text but without data that could reveal the verdict."""

    statement = serializers.CharField(source="run.action.statement")
    severity = serializers.IntegerField(source="run.action.severity")
    target = serializers.CharField(source="run.action.target")
    id = PublicKeyField(ITEM)
    demo = serializers.SerializerMethodField(help_text="Null if models are hidden.")
    # Use the request time. The item's creation time would reveal how long the run took, and so whether it was refined.
    created_at = serializers.DateTimeField(
        source="run.created_at", help_text="When the script was requested."
    )

    class Meta:
        model = Item
        fields = ["id", "statement", "severity", "target", "priority", "demo", "created_at"]

    def get_demo(self, item: Item) -> bool | None:
        return None if item.campaign.hides_models or item.run is None else item.run.demo


class MostUrgentFirst(KeysetPagination):
    """Pagination of the queue, most urgent item first."""

    ordering = services.URGENT_FIRST


class WaitingViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Item]):
    """Items in the review queue that are waiting for the caller. To review an item, open its review page."""

    serializer_class = QueueItemOut
    queryset = Item.objects.none()
    pagination_class = MostUrgentFirst
    filterset_class = QueueFilter
    required_scope = "review"

    def get_queryset(self) -> Any:
        user = signed_in(self.request)
        return services.waiting_for(access_queue(user), user).select_related(
            "run__action", "campaign"
        )


class AssignmentOut(serializers.ModelSerializer[Assignment]):
    """A reviewer's assignment of an item."""

    item = PublicKeyField(ITEM, source="item_id")
    reviewer = serializers.CharField(source="reviewer.username")

    class Meta:
        model = Assignment
        fields = ["id", "item", "reviewer", "state", "reason", "created_at", "ended_at", "why"]


class AssignIn(serializers.Serializer[Any]):
    item = PublicKeyField(ITEM)
    reviewer = serializers.CharField(help_text="Username.")


class TakeOverIn(serializers.Serializer[Any]):
    why = serializers.CharField(allow_blank=True)
    reviewer = serializers.CharField(
        default="",
        allow_blank=True,
        help_text="Username. If empty, the item goes to the next reviewer.",
    )


class SendBackIn(serializers.Serializer[Any]):
    why = serializers.CharField(allow_blank=True)


class SentBackOut(serializers.ModelSerializer[SentBack]):
    class Meta:
        model = SentBack
        fields = ["id", "assignment", "why", "at", "answered_at"]


class AssignmentViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Assignment]):
    """All assignments, for managers."""

    serializer_class: type[serializers.BaseSerializer[Any]] = AssignmentOut
    queryset = Assignment.objects.none()
    filterset_class = AssignmentFilter
    required_scope = "manage"

    def get_queryset(self) -> Any:
        access_campaigns(signed_in(self.request))
        return Assignment.objects.select_related("reviewer")

    @extend_schema(request=AssignIn, responses={201: AssignmentOut})
    def create(self, request: Request) -> Response:
        """Assign an item to a reviewer. The item becomes the first in the reviewer's queue."""
        user = signed_in(request)
        access_campaigns(user)
        given = read_body(AssignIn, request)
        item = access_managed_item(user, given["item"])
        made = services.assign(item, to=_person(given["reviewer"]), by=user)
        return Response(AssignmentOut(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=TakeOverIn, responses={204: None})
    @action(detail=True, methods=["post"], url_path="take-over")
    def take_over(self, request: Request, pk: str) -> Response:
        """Unassign an item. If the request names another reviewer, reassign the item."""
        held, given, user = self.get_object(), read_body(TakeOverIn, request), signed_in(request)
        if given["reviewer"]:
            to = _person(given["reviewer"])
            services.take_over(held, to=to, by=user, why=given["why"])
        else:
            services.take_back(held, by=user, why=given["why"])
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=SendBackIn, responses={201: SentBackOut})
    @action(detail=True, methods=["post"], url_path="send-back")
    def send_back(self, request: Request, pk: str) -> Response:
        """Ask the reviewer to review an item again, with a reason."""
        held, user = self.get_object(), signed_in(request)
        why = read_body(SendBackIn, request)["why"]
        sent = services.send_back(held, why=why, by=user)
        return Response(SentBackOut(sent).data, status=status.HTTP_201_CREATED)


def _person(name: str) -> User:
    user = find_user(name, services.people_who_review())
    if user is None:
        raise Http404
    return user
