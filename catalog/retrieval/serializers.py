"""API input and output for retrieval."""

from __future__ import annotations

from rest_framework import serializers

from catalog.types import Match, Retrieval
from core.texts import LONGEST_STATEMENT


class StatementInput(serializers.Serializer[object]):
    statement = serializers.CharField(max_length=LONGEST_STATEMENT)
    limit = serializers.IntegerField(min_value=1, max_value=50, required=False, default=5)


class MatchSerializer(serializers.Serializer[Match]):
    entry = serializers.CharField()
    version = serializers.IntegerField()
    version_id = serializers.IntegerField()
    title = serializers.CharField()
    statement = serializers.CharField(source="phrasing")
    script = serializers.CharField()
    answer = serializers.CharField()
    confidence = serializers.FloatField()
    reasons = serializers.ListField(child=serializers.CharField())
    differs = serializers.ListField(child=serializers.CharField())
    fills = serializers.DictField(child=serializers.CharField())


class RetrievalSerializer(serializers.Serializer[Retrieval]):
    statement = serializers.CharField()
    answer = serializers.CharField()
    matches = MatchSerializer(many=True)
    threshold = serializers.FloatField()
    scoring = serializers.CharField()
    degraded = serializers.CharField()
