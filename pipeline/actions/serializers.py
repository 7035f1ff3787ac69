"""Serializers for the action API."""

from __future__ import annotations

from rest_framework import serializers

from pipeline.actions.list_rows import ActionRow
from pipeline.display_names import ANSWER_CHOICES
from pipeline.runs.answers import ShownAnswer
from pipeline.runs.serializers import RunSerializer
from pipeline.types import MASK_STORED, SecretsChoice


class AskInput(serializers.Serializer[object]):
    """A new request. The services validate lengths and characters."""

    statement = serializers.CharField(trim_whitespace=False)
    incident = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    environment = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    reference = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    severity = serializers.IntegerField(required=False, help_text="1 (critical) to 4 (low).")
    target = serializers.CharField(required=False, allow_blank=True)
    impact = serializers.CharField(required=False, allow_blank=True)
    configuration = serializers.CharField(
        required=False, help_text="Name of a configuration. Default: the default configuration."
    )
    secrets = serializers.ChoiceField(
        choices=[MASK_STORED, *(choice.value for choice in SecretsChoice)],
        default=MASK_STORED,
        help_text="How to handle secrets in the texts. By default, *** replaces them in the stored text. With "
        "*mask*, they are stored and every user can find them, but models outside this machine get "
        "***. With *send*, these models get them too; the audit log records this.",
    )
    run = serializers.BooleanField(
        required=False,
        default=True,
        help_text="If false, the request is stored without starting a run.",
    )


class AnswerSerializer(serializers.Serializer[object]):
    """The answer to an action, which says whether the script may be used."""

    status = serializers.ChoiceField(
        choices=ANSWER_CHOICES,
        help_text="Only *verified* means that a person has verified the script.",
    )
    by = serializers.CharField(help_text="User who verified or decided.")
    at = serializers.DateTimeField(allow_null=True)
    why = serializers.ListField(
        child=serializers.CharField(),
        help_text="What is wrong with the script, or why it was rejected.",
    )
    entry = serializers.CharField(source="version.entry.slug", default=None)
    version = serializers.IntegerField(source="version.number", default=None)
    position = serializers.IntegerField(
        allow_null=True, help_text="Position in the review queue, from 1."
    )
    usual_seconds = serializers.SerializerMethodField(
        help_text="Usual time until a review is finished; null if there are too few reviews."
    )
    confirmed_match = serializers.BooleanField(
        source="is_confirmed_match",
        help_text="A catalogue entry matched, and a model confirmed the match because its score alone was too "
        "low.",
    )
    unread = serializers.BooleanField(
        source="is_unread",
        help_text="Whether this is your request and was updated since your last visit.",
    )

    def get_usual_seconds(self, answer: ShownAnswer) -> int | None:
        return None if answer.usual_wait is None else round(answer.usual_wait.total_seconds())


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
    answer = AnswerSerializer(allow_null=True)
    newest_run = RunSerializer(source="newest", allow_null=True)

    def get_reference(self, row: ActionRow) -> str | None:
        """Return the reference, or null while a study hides it from the caller."""
        return None if getattr(row.action, "hides_reference", False) else row.action.reference
