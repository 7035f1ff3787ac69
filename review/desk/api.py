"""API for single items and for the caller's scores and decisions.

The API returns only data that the pages also show.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from core.web.public_keys import ITEM, read_public
from core.web.requests import read_body, read_key, signed_in
from pipeline.types import SecretsChoice
from review.access import access_item, access_item_to_review, access_queue
from review.desk import services
from review.desk.api_filters import DecisionFilter, ScoreFilter
from review.desk.evidence_api import EvidenceActions
from review.desk.serializers import (
    DecisionIn,
    DecisionOut,
    FeedbackIn,
    GiveBackIn,
    ItemSeen,
    PaceOut,
    RemarkIn,
    RemarkOut,
    ScoreIn,
    ScoreOut,
    ShortenIn,
    ShorteningOut,
    show_item,
)
from review.desk.shown_keys import find_draft, find_seen
from review.models import Assignment, Decision, Item, Score
from review.queue import services as queue
from review.queue.api import WaitingViewSet


class QueueViewSet(WaitingViewSet):
    """The caller's review queue."""

    @extend_schema(
        request=None,
        responses={200: ItemSeen, 204: OpenApiResponse(description="No item is waiting.")},
    )
    @action(detail=False, methods=["post"], url_path="claim")
    def claim(self, request: Request) -> Response:
        """Claim the next item."""
        user = signed_in(request)
        assignment = queue.claim_next(access_queue(user), by=user)
        if assignment is None:
            return Response(status=status.HTTP_204_NO_CONTENT)
        return Response(show_item(services.open_item(access_item(user, assignment.item_id), user)))


class ItemViewSet(EvidenceActions):
    """Items to review, with their scores, decisions and sandbox tests."""

    queryset = Item.objects.all()
    serializer_class: type[serializers.BaseSerializer[Any]] = ItemSeen
    required_scope = "review"
    lookup_value_regex = "[0-9]+"

    @extend_schema(responses=ItemSeen)
    def retrieve(self, request: Request, pk: str) -> Response:
        return self._shown(request, pk)

    @extend_schema(request=None, responses=ItemSeen)
    @action(detail=True, methods=["post"])
    def claim(self, request: Request, pk: str) -> Response:
        """Claim this item."""
        queue.claim_item(self._mine(request, pk), by=signed_in(request))
        return self._shown(request, pk)

    @extend_schema(request=None, responses=ItemSeen)
    @action(detail=True, methods=["post"])
    def undo(self, request: Request, pk: str) -> Response:
        """Undo the caller's last score, decision or skip in this item's campaign, and return the affected item."""
        item = services.undo_last(self._mine(request, pk).campaign, by=signed_in(request))
        return self._show(request, item.pk)

    @extend_schema(request=ScoreIn, responses={201: ScoreOut})
    @action(detail=True, methods=["post"])
    def score(self, request: Request, pk: str) -> Response:
        """Score the current stage. Repeating the request does not add another score."""
        item, given = self._mine(request, pk), read_body(ScoreIn, request)
        given["seen"] = find_seen(item.pk, given["stage"], given["seen"])
        score = services.submit_score(item, services.ScoreInput(**given), by=signed_in(request))
        return Response(ScoreOut(score).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=DecisionIn, responses={201: DecisionOut})
    @action(detail=True, methods=["post"])
    def decide(self, request: Request, pk: str) -> Response:
        """Approve, edit or reject the script with the given hash, and score it in the same request."""
        item, given = self._mine(request, pk), read_body(DecisionIn, request)
        picked = {name: given.pop(name) for name in ("value", "comment", "stage", "arm")}
        decision = services.decide(
            item,
            edited_script=given.pop("script"),
            picked=services.ScoreForm(**picked),
            by=signed_in(request),
            **given,
        )
        return Response(DecisionOut(decision).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=FeedbackIn, responses={202: None})
    @action(detail=True, methods=["post"])
    def feedback(self, request: Request, pk: str) -> Response:
        """Request a rewrite in the background, based on the caller's feedback or on the model's feedback."""
        item, user = self._mine(request, pk), signed_in(request)
        given = read_body(FeedbackIn, request)
        text, secrets = given["feedback"], SecretsChoice(given["secrets"])
        if text.strip():
            services.send_feedback(item, text=text, by=user, secrets=secrets)
        else:
            services.ask_for_feedback(item, by=user)
        return Response(status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=ShortenIn, responses={202: ShorteningOut})
    @action(detail=True, methods=["post"])
    def shorten(self, request: Request, pk: str) -> Response:
        """Request a shorter version of the caller's feedback, which a model creates in the background."""
        item, text = self._mine(request, pk), read_body(ShortenIn, request)["feedback"]
        shortening = services.shorten_feedback(item, text=text, by=signed_in(request))
        return Response(ShorteningOut(shortening).data, status=status.HTTP_202_ACCEPTED)

    @extend_schema(
        responses=ShorteningOut,
        parameters=[OpenApiParameter("shortening", int, OpenApiParameter.PATH)],
    )
    @action(detail=True, url_path="shorten/(?P<shortening>[0-9]+)")
    def shorter(self, request: Request, pk: str, shortening: str) -> Response:
        """Return the state of the request and, when it is done, the shortened text."""
        item, user = self._item(request, pk), signed_in(request)
        return Response(
            ShorteningOut(services.access_shortening(item, read_key(shortening), by=user)).data
        )

    @extend_schema(request=RemarkIn, responses={201: RemarkOut})
    @action(detail=True, methods=["post"])
    def remarks(self, request: Request, pk: str) -> Response:
        """Comment on one line of a script. Repeating the request does not add another comment."""
        item, given = self._mine(request, pk), read_body(RemarkIn, request)
        given["draft"] = find_draft(item.pk, given["draft"])
        remark = services.add_remark(item, by=signed_in(request), **given)
        return Response(RemarkOut(remark).data, status=status.HTTP_201_CREATED)

    @extend_schema(
        request=None,
        responses={204: None},
        parameters=[OpenApiParameter("remark", int, OpenApiParameter.PATH)],
    )
    @action(detail=True, methods=["delete"], url_path="remarks/(?P<remark>[0-9]+)")
    def remove_remark(self, request: Request, pk: str, remark: str) -> Response:
        """Mark the caller's comment on a line as removed. The record is not deleted."""
        services.remove_remark(self._mine(request, pk), read_key(remark), by=signed_in(request))
        return Response(status=status.HTTP_204_NO_CONTENT)

    @extend_schema(request=GiveBackIn, responses={204: None})
    @action(detail=True, methods=["post"], url_path="give-back")
    def give_back(self, request: Request, pk: str) -> Response:
        """Release the item, skip it or report that it can't be judged."""
        item, given = self._mine(request, pk), read_body(GiveBackIn, request)
        desk = services.open_item(item, signed_in(request))
        queue.give_back(
            services.held_assignment(desk), state=Assignment.State(given["how"]), why=given["why"]
        )
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _item(self, request: Request, pk: str) -> Item:
        return access_item(signed_in(request), read_public(ITEM, pk))

    def _mine(self, request: Request, pk: str) -> Item:
        """Return the item if the caller may act on it.

        Call this method before parsing the body, because 403 takes precedence over 400.
        """
        return access_item_to_review(signed_in(request), read_public(ITEM, pk))

    def _shown(self, request: Request, pk: str) -> Response:
        return self._show(request, read_public(ITEM, pk))

    def _show(self, request: Request, key: int) -> Response:
        user = signed_in(request)
        return Response(show_item(services.open_item(access_item(user, key), user)))


class ScoreViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Score]):
    """The caller's scores, including replaced scores."""

    serializer_class = ScoreOut
    queryset = Score.objects.none()
    filterset_class = ScoreFilter
    required_scope = "review"

    def get_queryset(self) -> Any:
        return Score.objects.filter(reviewer=signed_in(self.request))

    @extend_schema(responses=PaceOut, filters=False)
    @action(detail=False, pagination_class=None)
    def pace(self, request: Request) -> Response:
        """Return the caller's pace today. The pace of other reviewers is not available."""
        user = signed_in(request)
        access_queue(user)
        return Response(PaceOut(queue.own_pace(user)).data)


class DecisionViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Decision]
):
    """Decisions made in the review queue."""

    serializer_class = DecisionOut
    queryset = Decision.objects.none()
    filterset_class = DecisionFilter
    required_scope = "review"

    def get_queryset(self) -> Any:
        access_queue(signed_in(self.request))
        return Decision.objects.filter(undone_at=None).select_related("publication")
