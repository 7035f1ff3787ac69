"""Serializers for drafts, with findings, assessment, feedback and uses without review."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from catalog.analysis import not_judged_in
from core.web.public_keys import DRAFT, FEEDBACK, PublicKeyField
from pipeline.access import VisibleParts
from pipeline.execution.draft_checks import (
    coverage_of_draft,
    is_current,
    is_current_assessment,
    missing_checks,
    prompts_in_use,
    shown_findings,
)
from pipeline.models import Assessment, Draft, DraftFinding, DraftUse, Feedback


class UseUnreviewedInput(serializers.Serializer[object]):
    """The reason for using a script without review."""

    reason = serializers.CharField()


class DraftFindingSerializer(serializers.ModelSerializer[DraftFinding]):
    outcome = serializers.CharField()
    level = serializers.CharField()
    is_current = serializers.SerializerMethodField(
        help_text="False if an older check reported the finding or if the finding is about another text."
    )

    class Meta:
        model = DraftFinding
        fields: ClassVar = (
            "check_name",
            "check_version",
            "outcome",
            "level",
            "code",
            "message",
            "line",
            "column",
            "end_line",
            "end_column",
            "is_current",
        )

    def get_is_current(self, found: DraftFinding) -> bool:
        return is_current(found, found.draft)


class AssessmentSerializer(serializers.ModelSerializer[Assessment]):
    """The verdict on one draft. The context's `parts` determine whether model names are shown."""

    verdict = serializers.CharField()
    is_current = serializers.SerializerMethodField(
        help_text="False if the assessment used older prompts or is about another text."
    )
    model = serializers.SerializerMethodField()
    differences = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = Assessment
        fields: ClassVar = (
            "verdict",
            "why",
            "syntax_ok",
            "functionality",
            "similarity",
            "similarity_reason",
            "difference",
            "difference_reason",
            "differences",
            "prompt_versions",
            "is_current",
            "model",
            "created_at",
        )

    def get_is_current(self, assessment: Assessment) -> bool:
        draft = assessment.draft
        return is_current_assessment(assessment, draft, prompts_in_use(draft.run.configuration))

    def get_model(self, assessment: Assessment) -> str | None:
        return _named(assessment.model, self.context["parts"])


class FeedbackSerializer(serializers.ModelSerializer[Feedback]):
    id = PublicKeyField(FEEDBACK)
    arm = serializers.CharField()
    author = serializers.CharField(source="author.username", default=None)
    model = serializers.SerializerMethodField()

    class Meta:
        model = Feedback
        fields: ClassVar = (
            "id",
            "arm",
            "round",
            "text",
            "no_error_found",
            "points",
            "words",
            "author",
            "model",
            "created_at",
        )

    def get_model(self, feedback: Feedback) -> str | None:
        return _named(feedback.model, self.context["parts"])


class DraftSerializer(serializers.ModelSerializer[Draft]):
    """A script with its findings and its assessment."""

    id = PublicKeyField(DRAFT)
    kind = serializers.CharField()
    arm = serializers.CharField()
    author = serializers.CharField(source="author.username", default=None)
    model = serializers.SerializerMethodField()
    made_from = serializers.IntegerField(
        source="parent.number", default=None, help_text="Number of the previous draft."
    )
    findings = serializers.SerializerMethodField()
    not_judged = serializers.SerializerMethodField(
        help_text="Parts that the static checks could not judge, such as unknown commands."
    )
    lines = serializers.SerializerMethodField(
        help_text="Null if the text was erased or is too long."
    )
    analyzed_lines = serializers.SerializerMethodField()
    missing_checks = serializers.SerializerMethodField(
        help_text="Checks whose current version has not checked this script."
    )
    assessment = serializers.SerializerMethodField()
    feedback = FeedbackSerializer(source="feedbacks", many=True)

    class Meta:
        model = Draft
        fields: ClassVar = (
            "id",
            "run",
            "number",
            "kind",
            "arm",
            "round",
            "script",
            "sha256",
            "made_from",
            "author",
            "model",
            "note",
            "created_at",
            "findings",
            "not_judged",
            "lines",
            "analyzed_lines",
            "missing_checks",
            "assessment",
            "feedback",
        )

    def get_model(self, draft: Draft) -> str | None:
        return _named(draft.model, self.context["parts"])

    @extend_schema_field(DraftFindingSerializer(many=True))
    def get_findings(self, draft: Draft) -> list[Mapping[str, object]]:
        found = shown_findings(draft.findings.all())
        return [DraftFindingSerializer(one).data for one in found]

    def get_not_judged(self, draft: Draft) -> list[str]:
        return not_judged_in(found for found in draft.findings.all() if is_current(found, draft))

    def get_lines(self, draft: Draft) -> int | None:
        coverage = coverage_of_draft(draft)
        return coverage.lines if coverage else None

    def get_analyzed_lines(self, draft: Draft) -> int | None:
        coverage = coverage_of_draft(draft)
        return coverage.analyzed if coverage else None

    def get_missing_checks(self, draft: Draft) -> list[str]:
        return sorted(missing_checks(draft, draft.findings.all()))

    @extend_schema_field(AssessmentSerializer(allow_null=True))
    def get_assessment(self, draft: Draft) -> Mapping[str, object] | None:
        found = getattr(draft, "assessment", None)
        return AssessmentSerializer(found, context=self.context).data if found else None


class DraftUseSerializer(serializers.ModelSerializer[DraftUse]):
    """A recorded use without review, with the exact script."""

    draft = PublicKeyField(DRAFT, source="draft_id")
    by = serializers.CharField(source="by.username")
    script = serializers.CharField(source="draft.script")

    class Meta:
        model = DraftUse
        fields: ClassVar = ("id", "draft", "by", "at", "reason", "script")


def _named(model: str, parts: VisibleParts) -> str | None:
    return model or None if parts.models else None
