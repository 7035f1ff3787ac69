"""Input and output of the pipeline's API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from core.web.public_keys import DRAFT, FEEDBACK, PublicKeyField
from pipeline.access import VisibleParts
from pipeline.actions.list_rows import ActionRow, RunRow
from pipeline.execution.draft_checks import (
    is_current,
    is_current_assessment,
    missing_checks,
    prompts_in_use,
    shown_findings,
)
from pipeline.models import (
    Assessment,
    Draft,
    DraftFinding,
    DraftUse,
    Feedback,
    RetrievedMatch,
)

# --- Input --------------------------------------------------------------------------


class AskInput(serializers.Serializer[object]):
    """What is to be done; the services judge lengths and characters."""

    statement = serializers.CharField(trim_whitespace=False)
    incident = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    environment = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    reference = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    severity = serializers.IntegerField(required=False, help_text="1 (critical) to 4 (low).")
    target = serializers.CharField(required=False, allow_blank=True)
    impact = serializers.CharField(required=False, allow_blank=True)
    configuration = serializers.CharField(
        required=False, help_text="Name of a configuration; the default one where it is left out."
    )
    run = serializers.BooleanField(
        required=False, default=True, help_text="False notes the action and starts no run."
    )


class StartInput(serializers.Serializer[object]):
    """Another run of an action."""

    action = serializers.IntegerField(min_value=1)
    configuration = serializers.CharField(required=False)
    retrieval = serializers.BooleanField(
        required=False, allow_null=True, help_text="Whether the catalogue is searched first."
    )


class UseUnreviewedInput(serializers.Serializer[object]):
    """Why a script is used that nobody has reviewed."""

    reason = serializers.CharField()


# --- Output -------------------------------------------------------------------------


class RunSerializer(serializers.Serializer[object]):
    """A run in a list. What a review hides from the person is null."""

    id = serializers.IntegerField(source="run.pk")
    action = serializers.IntegerField(source="run.action_id")
    state = serializers.CharField()
    origin = serializers.CharField(allow_null=True)
    configuration = serializers.SerializerMethodField()
    demo = serializers.SerializerMethodField()
    verdict = serializers.SerializerMethodField()
    answered_by = serializers.SerializerMethodField()
    problem = serializers.CharField()
    asked_by = serializers.CharField(source="asked_by.username", default=None)
    created_at = serializers.DateTimeField()
    started_at = serializers.DateTimeField(allow_null=True)
    finished_at = serializers.DateTimeField(allow_null=True)
    milliseconds = serializers.IntegerField(allow_null=True)

    def get_configuration(self, row: RunRow) -> str | None:
        return row.run.configuration.name if row.parts.models else None

    def get_demo(self, row: RunRow) -> bool | None:
        return row.run.demo if row.parts.models else None

    def get_verdict(self, row: RunRow) -> str | None:
        return row.run.verdict or None if row.parts.verdict else None

    def get_answered_by(self, row: RunRow) -> str | None:
        """The slug of the catalogue's entry that answered."""
        version = row.run.answered_by
        return version.entry.slug if version and row.parts.verdict else None


class ActionSerializer(serializers.Serializer[object]):
    """An action and its newest run."""

    id = serializers.IntegerField(source="action.pk")
    statement = serializers.CharField(source="action.statement")
    incident = serializers.CharField(source="action.incident")
    environment = serializers.CharField(source="action.environment")
    reference = serializers.SerializerMethodField()
    severity = serializers.IntegerField(source="action.severity")
    target = serializers.CharField(source="action.target")
    impact = serializers.CharField(source="action.impact")
    source = serializers.CharField(source="action.source")  # type: ignore[assignment]
    asked_by = serializers.CharField(source="action.asked_by.username", default=None)
    created_at = serializers.DateTimeField(source="action.created_at")
    erased_at = serializers.DateTimeField(source="action.erased_at", allow_null=True)
    newest_run = RunSerializer(source="newest", allow_null=True)

    def get_reference(self, row: ActionRow) -> str | None:
        """Null while a study hides it from the caller."""
        return None if getattr(row.action, "hides_reference", False) else row.action.reference


class RetrievedMatchSerializer(serializers.ModelSerializer[RetrievedMatch]):
    """What the catalogue answered to a run's statement."""

    entry = serializers.CharField(source="version.entry.slug")
    version = serializers.IntegerField(source="version.number")
    title = serializers.CharField(source="version.entry.title")
    statement = serializers.CharField(source="phrasing")
    answer = serializers.CharField()

    class Meta:
        model = RetrievedMatch
        fields: ClassVar = (
            "rank",
            "entry",
            "version",
            "title",
            "statement",
            "answer",
            "confidence",
            "reasons",
            "differs",
            "fills",
        )


class ShownStageSerializer(serializers.Serializer[object]):
    name = serializers.CharField()
    round = serializers.IntegerField()
    outcome = serializers.CharField()
    milliseconds = serializers.IntegerField()
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()


class ShownDraftSerializer(serializers.Serializer[object]):
    id = PublicKeyField(DRAFT)
    number = serializers.IntegerField()
    kind = serializers.CharField()
    sha256 = serializers.CharField()
    script = serializers.CharField()
    verdict = serializers.CharField(allow_null=True)


class TokensSerializer(serializers.Serializer[object]):
    input = serializers.IntegerField()
    output = serializers.IntegerField()


class FailureSerializer(serializers.Serializer[object]):
    """Why a run failed or what it waits for, in words for people."""

    happened = serializers.CharField()
    done = serializers.CharField()
    advice = serializers.CharField()
    evidence = serializers.CharField(help_text="The technical words.")


class RunReportSerializer(serializers.Serializer[object]):
    """A run in full, as the command `run_pipeline --json` prints it, with where it belongs."""

    run = serializers.IntegerField()
    action = serializers.IntegerField()
    state = serializers.CharField()
    origin = serializers.CharField(allow_null=True, help_text="retrieved, generated or imported.")
    configuration = serializers.CharField(allow_null=True)
    demo = serializers.BooleanField(allow_null=True)
    stages = ShownStageSerializer(many=True)
    drafts = ShownDraftSerializer(many=True)
    verdict = serializers.CharField(allow_null=True)
    recommended = serializers.IntegerField(allow_null=True, help_text="Number of a draft.")
    script = serializers.CharField(allow_null=True)
    calls = serializers.IntegerField(allow_null=True)
    tokens = TokensSerializer(allow_null=True)
    cost = serializers.FloatField(allow_null=True, help_text="USD; null where no price is known.")
    problem = serializers.CharField()
    failure = FailureSerializer(allow_null=True)
    matches = RetrievedMatchSerializer(many=True)
    follows = serializers.IntegerField(allow_null=True)
    asked_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class DraftFindingSerializer(serializers.ModelSerializer[DraftFinding]):
    outcome = serializers.CharField()
    level = serializers.CharField()
    is_current = serializers.SerializerMethodField(
        help_text="False: made by an older check, or of another text."
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
    """The verdict on one draft; the context's `parts` say whether models are named."""

    verdict = serializers.CharField()
    is_current = serializers.SerializerMethodField(
        help_text="False: judged with earlier prompts, or of another text."
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
    """One script text with what checks and assessor say of it."""

    id = PublicKeyField(DRAFT)
    kind = serializers.CharField()
    arm = serializers.CharField()
    author = serializers.CharField(source="author.username", default=None)
    model = serializers.SerializerMethodField()
    made_from = serializers.IntegerField(
        source="parent.number", default=None, help_text="Number of the draft before it."
    )
    findings = serializers.SerializerMethodField()
    missing_checks = serializers.SerializerMethodField(
        help_text="Checks that have not been made on it as they are today."
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

    def get_missing_checks(self, draft: Draft) -> list[str]:
        return sorted(missing_checks(draft, draft.findings.all()))

    @extend_schema_field(AssessmentSerializer(allow_null=True))
    def get_assessment(self, draft: Draft) -> Mapping[str, object] | None:
        found = getattr(draft, "assessment", None)
        return AssessmentSerializer(found, context=self.context).data if found else None


class DraftUseSerializer(serializers.ModelSerializer[DraftUse]):
    """A recorded use without review, and the exact script."""

    draft = PublicKeyField(DRAFT, source="draft_id")
    by = serializers.CharField(source="by.username")
    script = serializers.CharField(source="draft.script")

    class Meta:
        model = DraftUse
        fields: ClassVar = ("id", "draft", "by", "at", "reason", "script")


def _named(model: str, parts: VisibleParts) -> str | None:
    return model or None if parts.models else None
