"""Input and output of the API of actions."""

from __future__ import annotations

from rest_framework import serializers

from pipeline.actions.list_rows import ActionRow
from pipeline.runs.serializers import RunSerializer


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
