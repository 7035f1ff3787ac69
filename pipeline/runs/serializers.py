"""Serializers for the run API."""

from __future__ import annotations

from typing import ClassVar

from rest_framework import serializers

from core.web.public_keys import DRAFT, PublicKeyField
from pipeline.models import (
    RetrievedMatch,
)
from pipeline.runs.list_rows import RunRow
from pipeline.types import SecretsChoice

# --- Input --------------------------------------------------------------------------


class StartInput(serializers.Serializer[object]):
    """Another run of an action."""

    action = serializers.IntegerField(min_value=1)
    configuration = serializers.CharField(required=False)
    retrieval = serializers.BooleanField(
        required=False, allow_null=True, help_text="Whether the catalogue is searched first."
    )
    secrets = serializers.ChoiceField(
        choices=[choice.value for choice in SecretsChoice],
        required=False,
        help_text="How to handle secrets that would leave this machine. Default: mask.",
    )


# --- Output -------------------------------------------------------------------------


class RunSerializer(serializers.Serializer[object]):
    """A run in a list. Values that a review hides from the user are null."""

    id = serializers.IntegerField(source="run.pk")
    action = serializers.IntegerField(source="run.action_id")
    state = serializers.CharField()
    origin = serializers.CharField(allow_null=True)
    configuration = serializers.SerializerMethodField()
    demo = serializers.SerializerMethodField()
    secrets = serializers.SerializerMethodField(
        help_text="How secrets that would leave this machine are handled: mask or send."
    )
    verdict = serializers.SerializerMethodField()
    answered_by = serializers.SerializerMethodField()
    match_confirmed_by = serializers.SerializerMethodField(
        help_text="The assessor's model if it confirmed the match; null for a match by score alone."
    )
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

    def get_secrets(self, row: RunRow) -> str | None:
        return row.run.secrets if row.parts.verdict and row.parts.models else None

    def get_verdict(self, row: RunRow) -> str | None:
        return row.run.verdict or None if row.parts.verdict else None

    def get_answered_by(self, row: RunRow) -> str | None:
        """Return the slug of the entry that answered."""
        version = row.run.answered_by
        return version.entry.slug if version and row.parts.verdict else None

    def get_match_confirmed_by(self, row: RunRow) -> str | None:
        parts = row.parts
        return (row.run.match_confirmed_by or None) if parts.verdict and parts.models else None


class RetrievedMatchSerializer(serializers.ModelSerializer[RetrievedMatch]):
    """A catalogue entry found for a run's statement."""

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
    """The reason why a run failed or is waiting, as text."""

    happened = serializers.CharField()
    done = serializers.CharField()
    advice = serializers.CharField()
    evidence = serializers.CharField(help_text="Technical details.")


class MaskedSerializer(serializers.Serializer[object]):
    """The kinds of secrets that were masked in a call before it left this machine."""

    stage = serializers.CharField()
    round = serializers.IntegerField()
    endpoint = serializers.CharField()
    kinds = serializers.ListField(child=serializers.CharField())


class RunReportSerializer(serializers.Serializer[object]):
    """A complete run, in the format of `run_pipeline --json`, with its links."""

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
    cost = serializers.FloatField(allow_null=True, help_text="USD; null if no price is known.")
    match_confirmed_by = serializers.CharField(allow_null=True)
    secrets = serializers.CharField(allow_null=True, help_text="mask or send.")
    masked = MaskedSerializer(many=True, allow_null=True)
    problem = serializers.CharField()
    failure = FailureSerializer(allow_null=True)
    waiting = serializers.CharField(
        help_text="What the run is waiting for; empty if it is not waiting."
    )
    matches = RetrievedMatchSerializer(many=True)
    follows = serializers.IntegerField(allow_null=True)
    asked_by = serializers.CharField(allow_null=True)
    created_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
