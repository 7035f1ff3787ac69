"""Serializers of the review API. Items are blinded in the same way as on their pages."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from core.web.public_keys import ITEM, PublicKeyField, public_key
from pipeline.models import Shortening
from pipeline.types import SecretsChoice
from review.blinding.item_view import ItemView, note_shown_by
from review.desk.line_comments import remarks_of
from review.desk.shown_drafts import seal
from review.desk.shown_keys import name_draft, name_feedback, name_seen
from review.models import Assignment, Decision, Remark, Score


class ScoreOut(serializers.ModelSerializer[Score]):
    """A score of the caller. Drafts and feedback have the same IDs as in the item."""

    draft = serializers.SerializerMethodField()
    feedback = serializers.SerializerMethodField()

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
            "earlier_by",
        ]

    def get_draft(self, score: Score) -> int | None:
        return name_draft(score.item_id, score.draft_id) if score.draft_id else None

    def get_feedback(self, score: Score) -> int | None:
        return name_feedback(score.item_id, score.feedback_id) if score.feedback_id else None


class ScoreIn(serializers.Serializer[Any]):
    stage = serializers.ChoiceField(choices=Score.Stage.choices)
    arm = serializers.ChoiceField(choices=Score.ARMS, default="model")
    value = serializers.IntegerField(help_text="0: incorrect, 1: partially correct, 2: correct.")
    seen = serializers.IntegerField(
        help_text="ID of the draft or feedback that the score is about."
    )
    comment = serializers.CharField(default="", allow_blank=True, trim_whitespace=False)
    active_seconds = serializers.FloatField(
        default=None,
        allow_null=True,
        min_value=0,
        max_value=86_400,
        help_text="Seconds of work without pauses.",
    )


class PaceOut(serializers.Serializer[Any]):
    """The caller's pace today. The day starts at midnight in the caller's time zone."""

    today = serializers.IntegerField(help_text="Items finished today.")
    sitting = serializers.IntegerField(allow_null=True, help_text="Items finished in this session.")
    sitting_minutes = serializers.FloatField()
    median_seconds = serializers.FloatField(
        allow_null=True, help_text="Median seconds of work per item."
    )
    pauses = serializers.IntegerField()


class DecisionIn(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=Decision.Kind.choices)
    draft_sha256 = serializers.CharField(
        help_text="Hash of the exact script that the decision is about."
    )
    shown = serializers.CharField(
        help_text="`shown` from the item. The decision applies to what the item showed then."
    )
    value = serializers.IntegerField(
        default=None,
        allow_null=True,
        help_text="The score to save with the decision. 0: incorrect, 1: partially correct, 2: correct.",
    )
    comment = serializers.CharField(
        default=None, allow_null=True, allow_blank=True, trim_whitespace=False
    )
    stage = serializers.ChoiceField(
        choices=Score.Stage.choices,
        default="",
        help_text="The stage that value and comment are about. Default: the stage of the script "
        "decided on.",
    )
    arm = serializers.ChoiceField(choices=Score.ARMS, default="model")
    reason = serializers.CharField(default="", allow_blank=True)
    script = serializers.CharField(
        default="",
        allow_blank=True,
        trim_whitespace=False,
        help_text="The edited script. Used with `edit`.",
    )


class DecisionOut(serializers.ModelSerializer[Decision]):
    """A decision. Drafts have the same IDs as in the item."""

    item = PublicKeyField(ITEM, source="item_id")
    draft = serializers.SerializerMethodField()
    edited = serializers.SerializerMethodField()
    # IDs of the scores that were stored with the decision.
    scores = serializers.SerializerMethodField()
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
            "scores",
            "version",
        ]

    @extend_schema_field(serializers.ListField(child=serializers.IntegerField()))
    def get_scores(self, decision: Decision) -> list[int]:
        return list(decision.scores)

    def get_draft(self, decision: Decision) -> int:
        return name_draft(decision.item_id, decision.draft_id)

    def get_edited(self, decision: Decision) -> int | None:
        return name_draft(decision.item_id, decision.edited_id) if decision.edited_id else None

    def get_version(self, decision: Decision) -> int | None:
        publication = getattr(decision, "publication", None)
        return publication.version_id if publication else None


class RemarkOut(serializers.ModelSerializer[Remark]):
    """A comment on a line. Other reviewers' comments appear only if the campaign does not hide its reviewers."""

    by = serializers.CharField(source="by.username")
    draft = serializers.SerializerMethodField()

    class Meta:
        model = Remark
        fields = ["id", "draft", "line", "text", "by", "at"]

    def get_draft(self, remark: Remark) -> int:
        return name_draft(remark.item_id, remark.draft_id)


class RemarkIn(serializers.Serializer[Any]):
    draft = serializers.IntegerField(help_text="ID of the draft.")
    line = serializers.IntegerField(help_text="Counted from 1.")
    text = serializers.CharField(allow_blank=True, trim_whitespace=False)


class GiveBackIn(serializers.Serializer[Any]):
    how = serializers.ChoiceField(choices=["skipped", "cannot_judge", "released"])
    why = serializers.CharField(default="", allow_blank=True)


class FeedbackIn(serializers.Serializer[Any]):
    feedback = serializers.CharField(
        default="",
        allow_blank=True,
        help_text="Your feedback. If empty, the model writes the feedback.",
    )
    secrets = serializers.ChoiceField(
        choices=[choice.value for choice in SecretsChoice],
        default=SecretsChoice.MASK.value,
        help_text="What to do with secrets in the feedback that would leave this machine. Studies "
        "always mask them.",
    )


class ShortenIn(serializers.Serializer[Any]):
    feedback = serializers.CharField(allow_blank=True, trim_whitespace=False)


class ShorteningOut(serializers.ModelSerializer[Shortening]):
    """The caller's feedback, with the shortened text once `state` is `done`."""

    class Meta:
        model = Shortening
        fields = ["id", "text", "shorter", "state", "problem", "created_at"]


class DraftSeen(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    number = serializers.IntegerField(help_text="Position among the scripts that are shown.")
    kind = serializers.CharField(allow_null=True, help_text="Null until the verdict is shown.")
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
    """An item as its reviewer may see it now. Fields that are still hidden are null or absent."""

    id = serializers.IntegerField()
    campaign = serializers.CharField()
    statement = serializers.CharField()
    incident = serializers.CharField()
    environment = serializers.CharField()
    state = serializers.CharField()
    yours = serializers.BooleanField()
    demo = serializers.BooleanField(allow_null=True, help_text="Null if models are hidden.")
    shown = serializers.CharField(help_text="Send this value with a decision.")
    drafts = DraftSeen(many=True)
    feedback = FeedbackSeen(allow_null=True)
    assessment = AssessmentSeen(allow_null=True)
    next = StepSeen(allow_null=True)
    scores = ScoreOut(many=True)
    remarks = RemarkOut(many=True)
    visible = serializers.DictField(child=serializers.BooleanField())


def show_item(desk: ItemView) -> dict[str, Any]:
    """Return the JSON of an item, blinded by the same rules as its page."""
    step = desk.next_step
    assessment = getattr(desk.first, "assessment", None) if desk.visible["verdict"] else None
    if assessment is not None:
        note_shown_by(desk)
    feedback = desk.feedback_in("model") if desk.visible["feedback"] else None
    shows_models = desk.visible["models"]
    shows_kind = shows_models and desk.visible["verdict"]
    item = desk.item.pk
    return {
        "id": public_key(ITEM, item),
        "campaign": desk.item.campaign.name,
        "statement": desk.run.action.statement,
        "incident": desk.run.action.incident,
        "environment": desk.run.action.environment,
        "state": desk.item.state,
        "yours": desk.assignment is not None and desk.assignment.state == Assignment.State.ACTIVE,
        "demo": desk.run.demo if shows_models else None,
        "shown": seal(desk),
        "drafts": [
            {
                "id": name_draft(item, draft.pk),
                "number": number,
                "kind": draft.kind if shows_kind else None,
                "sha256": draft.sha256,
                "script": draft.script,
            }
            for number, draft in enumerate(desk.shown_drafts, start=1)
        ],
        "feedback": {"id": name_feedback(item, feedback.pk), "text": feedback.text}
        if feedback
        else None,
        "assessment": AssessmentSeen(assessment).data if assessment else None,
        "next": {
            "stage": step.stage,
            "arm": step.arm,
            "seen": name_seen(item, step),
        }
        if step
        else None,
        "scores": ScoreOut(list(desk.scores.values()), many=True).data,
        "remarks": RemarkOut(remarks_of(desk), many=True).data,
        "visible": desk.visible,
    }
