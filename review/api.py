"""The API of the reviews: the same services as the pages, and no more shown than there."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import DefaultRouter

from review import services
from review.access import access_item, access_queue
from review.campaign_api import CampaignViewSet
from review.desk import Desk
from review.models import Assignment, Decision, Item, Score
from review.people import signed_in
from review.report_api import ReportViewSet, SnapshotViewSet
from review.transfer_api import TransferViewSet


class QueueItemOut(serializers.ModelSerializer[Item]):
    """A waiting item: what is asked, and nothing that would tell the verdict."""

    statement = serializers.CharField(source="run.action.statement")
    severity = serializers.IntegerField(source="run.action.severity")
    target = serializers.CharField(source="run.action.target")
    demo = serializers.BooleanField(source="run.demo")

    class Meta:
        model = Item
        fields = ["id", "statement", "severity", "target", "priority", "demo", "created_at"]


class ScoreOut(serializers.ModelSerializer[Score]):
    class Meta:
        model = Score
        fields = [
            "id",
            "stage",
            "arm",
            "value",
            "draft",
            "feedback",
            "comment",
            "at",
            "visible",
            "blind",
        ]


class ScoreIn(serializers.Serializer[Any]):
    stage = serializers.ChoiceField(choices=Score.Stage.choices)
    arm = serializers.ChoiceField(choices=Score.ARMS, default="model")
    value = serializers.IntegerField(help_text="0 incorrect, 1 partially correct, 2 correct")
    seen = serializers.IntegerField(help_text="id of the draft or feedback that was looked at")
    comment = serializers.CharField(default="", allow_blank=True, trim_whitespace=False)
    active_seconds = serializers.FloatField(
        default=None,
        allow_null=True,
        min_value=0,
        max_value=86_400,
        help_text="of work, without pauses",
    )


class DecisionIn(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=Decision.Kind.choices)
    draft_sha256 = serializers.CharField(help_text="hash of the exact script decided on")
    newest_seen = serializers.IntegerField(help_text="highest draft number that was seen")
    reason = serializers.CharField(default="", allow_blank=True)
    script = serializers.CharField(
        default="",
        allow_blank=True,
        trim_whitespace=False,
        help_text="the edited script, for `edit`",
    )


class DecisionOut(serializers.ModelSerializer[Decision]):
    version = serializers.SerializerMethodField()

    class Meta:
        model = Decision
        fields = [
            "id",
            "item",
            "kind",
            "draft",
            "draft_sha256",
            "edited",
            "at",
            "reason",
            "version",
        ]

    def get_version(self, decision: Decision) -> int | None:
        publication = getattr(decision, "publication", None)
        return publication.version_id if publication else None


class GiveBackIn(serializers.Serializer[Any]):
    how = serializers.ChoiceField(choices=["skipped", "cannot_judge", "released"])
    why = serializers.CharField(default="", allow_blank=True)


class FeedbackIn(serializers.Serializer[Any]):
    feedback = serializers.CharField(
        default="", allow_blank=True, help_text="your own; empty asks the model for its own"
    )


class DraftSeen(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    number = serializers.IntegerField()
    kind = serializers.CharField()
    sha256 = serializers.CharField()
    script = serializers.CharField()


class FeedbackSeen(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    text = serializers.CharField()


class AssessmentSeen(serializers.Serializer[Any]):
    verdict = serializers.CharField()
    functionality = serializers.CharField()
    similarity = serializers.CharField()
    difference = serializers.CharField()
    differences = serializers.ListField(child=serializers.CharField())


class StepSeen(serializers.Serializer[Any]):
    stage = serializers.CharField()
    arm = serializers.CharField()
    seen = serializers.IntegerField()


class ItemSeen(serializers.Serializer[Any]):
    """An item as its reviewer may see it now; what is hidden until its stage is null or absent."""

    id = serializers.IntegerField()
    campaign = serializers.CharField()
    statement = serializers.CharField()
    incident = serializers.CharField()
    environment = serializers.CharField()
    state = serializers.CharField()
    yours = serializers.BooleanField()
    demo = serializers.BooleanField()
    newest = serializers.IntegerField()
    drafts = DraftSeen(many=True)
    feedback = FeedbackSeen(allow_null=True)
    assessment = AssessmentSeen(allow_null=True)
    next = StepSeen(allow_null=True)
    scores = ScoreOut(many=True)
    visible = serializers.DictField(child=serializers.BooleanField())


def show_item(desk: Desk) -> dict[str, Any]:
    """The blinded view of an item, by the same rules as the page."""
    step = desk.next_step
    assessment = getattr(desk.first, "assessment", None) if desk.visible["verdict"] else None
    feedback = desk.feedback_in("model") if desk.visible["feedback"] else None
    drafts = [one.draft for one in desk.steps if one.draft]
    return {
        "id": desk.item.pk,
        "campaign": desk.item.campaign.name,
        "statement": desk.run.action.statement,
        "incident": desk.run.action.incident,
        "environment": desk.run.action.environment,
        "state": desk.item.state,
        "yours": desk.assignment is not None and desk.assignment.state == Assignment.State.ACTIVE,
        "demo": desk.run.demo,
        "newest": desk.newest.number if desk.newest else 0,
        "drafts": DraftSeen(drafts, many=True).data,
        "feedback": FeedbackSeen(feedback).data if feedback else None,
        "assessment": AssessmentSeen(assessment).data if assessment else None,
        "next": {
            "stage": step.stage,
            "arm": step.arm,
            "seen": (step.draft or step.feedback).pk,  # type: ignore[union-attr]
        }
        if step
        else None,
        "scores": ScoreOut(list(desk.scores.values()), many=True).data,
        "visible": desk.visible,
    }


class MostUrgentFirst(CursorPagination):
    """The queue in the order in which it is worked off."""

    ordering = ("-priority", "pk")
    page_size = 50
    page_size_query_param = "limit"
    max_page_size = 200


class QueueViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Item]):
    """The live queue: what waits for the caller, and the way to the next item."""

    serializer_class = QueueItemOut
    queryset = Item.objects.none()
    pagination_class = MostUrgentFirst
    filterset_fields = {
        "priority": ["exact", "gte"],
        "configuration": ["exact"],
        "run__demo": ["exact"],
    }
    required_scope = "review"

    def get_queryset(self) -> Any:
        user = signed_in(self.request)
        return services.waiting_for(access_queue(user), user).select_related("run__action")

    @extend_schema(
        request=None, responses={200: ItemSeen, 204: OpenApiResponse(description="nothing waits")}
    )
    @action(detail=False, methods=["post"], url_path="claim")
    def claim(self, request: Request) -> Response:
        """Take the next item."""
        user = signed_in(request)
        assignment = services.claim_next(access_queue(user), by=user)
        if assignment is None:
            return Response(status=status.HTTP_204_NO_CONTENT)
        return Response(show_item(services.open_desk(access_item(user, assignment.item_id), user)))


class ItemViewSet(viewsets.GenericViewSet[Item]):
    """One item: look, score, decide, give back."""

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
        """Take this item."""
        services.claim_item(self._item(request, pk), by=signed_in(request))
        return self._shown(request, pk)

    @extend_schema(request=None, responses=ItemSeen)
    @action(detail=True, methods=["post"])
    def undo(self, request: Request, pk: str) -> Response:
        """Take back one's last score or decision in this item's campaign; the item it was about."""
        item = services.undo_last(self._item(request, pk).campaign, by=signed_in(request))
        return self._shown(request, str(item.pk))

    @extend_schema(request=ScoreIn, responses={201: ScoreOut})
    @action(detail=True, methods=["post"])
    def score(self, request: Request, pk: str) -> Response:
        """Score the stage that is open; sending the same score again changes nothing."""
        given = _read(ScoreIn, request)
        score = services.submit_score(
            self._item(request, pk), services.Given(**given), by=signed_in(request)
        )
        return Response(ScoreOut(score).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=DecisionIn, responses={201: DecisionOut})
    @action(detail=True, methods=["post"])
    def decide(self, request: Request, pk: str) -> Response:
        """Approve, edit and approve, or reject the exact script named by its hash."""
        given = _read(DecisionIn, request)
        decision = services.decide(
            self._item(request, pk),
            edited_script=given.pop("script"),
            by=signed_in(request),
            **given,
        )
        return Response(DecisionOut(decision).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=FeedbackIn, responses={202: None})
    @action(detail=True, methods=["post"])
    def feedback(self, request: Request, pk: str) -> Response:
        """Have the script rewritten in the background, from one's own feedback or from the model's."""
        text = _read(FeedbackIn, request)["feedback"]
        item, user = self._item(request, pk), signed_in(request)
        if text.strip():
            services.send_feedback(item, text=text, by=user)
        else:
            services.ask_for_feedback(item, by=user)
        return Response(status=status.HTTP_202_ACCEPTED)

    @extend_schema(request=GiveBackIn, responses={204: None})
    @action(detail=True, methods=["post"], url_path="give-back")
    def give_back(self, request: Request, pk: str) -> Response:
        """Skip, say that it can't be judged, or let go of it."""
        given = _read(GiveBackIn, request)
        desk = services.open_desk(self._item(request, pk), signed_in(request))
        services.give_back(
            services.holding(desk), state=Assignment.State(given["how"]), why=given["why"]
        )
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _item(self, request: Request, pk: str) -> Item:
        return access_item(signed_in(request), int(pk))

    def _shown(self, request: Request, pk: str) -> Response:
        return Response(show_item(services.open_desk(self._item(request, pk), signed_in(request))))


class ScoreViewSet(mixins.ListModelMixin, viewsets.GenericViewSet[Score]):
    """The caller's own scores, earlier ones included."""

    serializer_class = ScoreOut
    queryset = Score.objects.none()
    filterset_fields = ["item", "stage", "arm", "value", "current"]
    required_scope = "review"

    def get_queryset(self) -> Any:
        return Score.objects.filter(reviewer=signed_in(self.request))


class DecisionViewSet(
    mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Decision]
):
    """Decisions of the live queue."""

    serializer_class = DecisionOut
    queryset = Decision.objects.none()
    filterset_fields = ["kind", "item", "by"]
    required_scope = "review"

    def get_queryset(self) -> Any:
        access_queue(signed_in(self.request))
        return Decision.objects.filter(undone_at=None).select_related("publication")


def _read(serializer: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    given = serializer(data=request.data)
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)


router = DefaultRouter()
router.register("campaigns", CampaignViewSet, basename="campaign")
router.register("queue", QueueViewSet, basename="queue")
router.register("items", ItemViewSet, basename="item")
router.register("scores", ScoreViewSet, basename="score")
router.register("decisions", DecisionViewSet, basename="decision")
router.register("transfers", TransferViewSet, basename="transfer")
router.register("reports", ReportViewSet, basename="report")
router.register("report-snapshots", SnapshotViewSet, basename="report-snapshot")
