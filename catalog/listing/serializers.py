"""API output for the list of entries."""

from __future__ import annotations

from rest_framework import serializers

from catalog.entries.serializers import TrackSerializer
from catalog.listing.services.search import Listed


class ListedSerializer(serializers.Serializer[object]):
    """An entry in a list, with its representative version."""

    slug = serializers.CharField(source="entry.slug")
    title = serializers.CharField(source="entry.title")
    suspended_at = serializers.DateTimeField(source="entry.suspended_at", allow_null=True)
    version = serializers.IntegerField(source="version.number")
    version_id = serializers.IntegerField(source="version.pk")
    state = serializers.CharField(source="version.state")
    risk = serializers.CharField(source="version.risk")
    side_effect = serializers.CharField(source="version.side_effect")
    owner = serializers.CharField(source="version.owner.username", default=None)
    tags = serializers.SerializerMethodField()
    track_record = TrackSerializer(source="record")

    def get_tags(self, row: Listed) -> list[str]:
        return [tag.name for tag in row.version.tags.all()]
