"""API input and output for entries, versions and uses."""

from __future__ import annotations

from typing import ClassVar

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from catalog.entries.services.uses import Copied, Rated, TrackRecord
from catalog.models import Entry, Phrasing, Tag, Use, Version


class NoteInput(serializers.Serializer[object]):
    note = serializers.CharField(required=False, allow_blank=True, default="")


class VerifyInput(NoteInput):
    note = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="Required for high-risk scripts."
    )
    wordings = serializers.ListField(
        child=serializers.IntegerField(),
        required=False,
        default=list,
        max_length=2_000,
        help_text="IDs of waiting phrasings that you checked. They are confirmed together with the version.",
    )


class ReasonInput(serializers.Serializer[object]):
    reason = serializers.CharField()


class RollbackInput(ReasonInput):
    emergency = serializers.BooleanField(
        required=False,
        default=False,
        help_text="For the version's author if no other curator is available. Another curator confirms it later.",
    )
    lift = serializers.BooleanField(
        required=False, default=False, help_text="Also lift the entry's suspension."
    )
    seen = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        help_text=(
            'Number of the live version that you saw, or "none". '
            "The request is refused if another version is live now."
        ),
    )


class UseInput(serializers.Serializer[object]):
    values = serializers.DictField(
        child=serializers.CharField(allow_blank=True, trim_whitespace=False),
        required=False,
        default=dict,
    )
    reason = serializers.CharField(required=False, allow_blank=True, default="")


class OutcomeInput(serializers.Serializer[object]):
    outcome = serializers.ChoiceField(choices=Use.Outcome.choices)
    incident = serializers.CharField(required=False, allow_blank=True, default="")
    note = serializers.CharField(required=False, allow_blank=True, default="")


class TagSerializer(serializers.ModelSerializer[Tag]):
    class Meta:
        model = Tag
        fields = ("name",)


class TrackSerializer(serializers.Serializer[TrackRecord]):
    uses = serializers.IntegerField()
    rated = serializers.IntegerField()
    worked = serializers.IntegerField()
    no_effect = serializers.IntegerField()
    worse = serializers.IntegerField()


class VersionSerializer(serializers.ModelSerializer[Version]):
    """A version. The `records` in the context contain its use counts."""

    entry = serializers.SlugRelatedField[Entry](slug_field="slug", read_only=True)
    tags = serializers.SlugRelatedField[Tag](slug_field="name", many=True, read_only=True)
    author = serializers.CharField(source="author.username", default=None)
    owner = serializers.CharField(source="owner.username", default=None)
    verified_by = serializers.CharField(source="verified_by.username", default=None)
    not_judged = serializers.ListField(
        child=serializers.CharField(),
        read_only=True,
        help_text="What the newest static checks could not judge, such as unknown commands.",
    )
    lines = serializers.IntegerField(
        source="coverage.lines", default=None, help_text="Null if not recorded."
    )
    analyzed_lines = serializers.IntegerField(source="coverage.analyzed", default=None)
    track_record = serializers.SerializerMethodField()

    class Meta:
        model = Version
        fields: ClassVar = (
            "id",
            "entry",
            "number",
            "state",
            "script",
            "sha256",
            "parameters",
            "tags",
            "risk",
            "findings",
            "not_judged",
            "lines",
            "analyzed_lines",
            "side_effect",
            "runs_on",
            "operating_system",
            "shell",
            "tools",
            "privileges",
            "check_before",
            "check_after",
            "undo",
            "repeatable",
            "owner",
            "links",
            "provenance",
            "author",
            "created_at",
            "verified_at",
            "verified_by",
            "self_verified",
            "track_record",
        )

    def get_track_record(self, version: Version) -> dict[str, int]:
        record = self.context["records"].get(version.pk, TrackRecord())
        return dict(TrackSerializer(record).data)


class WordingSerializer(serializers.ModelSerializer[Phrasing]):
    """A phrasing of an entry. An unconfirmed phrasing can only suggest a starting point."""

    added_by = serializers.CharField(source="added_by.username", default=None)
    confirmed_by = serializers.CharField(source="confirmed_by.username", default=None)

    class Meta:
        model = Phrasing
        fields = ("id", "text", "source", "added_by", "confirmed_by", "confirmed_at")


class EntrySerializer(serializers.ModelSerializer[Entry]):
    """An entry. The context contains its `versions` and their `records`."""

    merged_into = serializers.CharField(source="merged_into.slug", default=None)
    phrasings = serializers.SerializerMethodField()
    wordings = serializers.SerializerMethodField()
    _read: tuple[int, list[Phrasing]] | None = None
    versions = serializers.SerializerMethodField()

    class Meta:
        model = Entry
        fields = (
            "slug",
            "title",
            "created_at",
            "suspended_at",
            "suspended_why",
            "merged_into",
            "phrasings",
            "wordings",
            "versions",
        )

    def get_phrasings(self, entry: Entry) -> list[str]:
        return [phrasing.text for phrasing in self._phrasings(entry)]

    @extend_schema_field(WordingSerializer(many=True))
    def get_wordings(self, entry: Entry) -> list[dict[str, object]]:
        return list(WordingSerializer(self._phrasings(entry), many=True).data)

    def _phrasings(self, entry: Entry) -> list[Phrasing]:
        """Return the phrasings. Both fields share one query."""
        if self._read is None or self._read[0] != entry.pk:
            people = ("added_by", "confirmed_by")
            rows = entry.phrasings.select_related(*people).defer("document")
            self._read = entry.pk, list(rows)
        return self._read[1]

    @extend_schema_field(VersionSerializer(many=True))
    def get_versions(self, entry: Entry) -> list[dict[str, object]]:
        return list(
            VersionSerializer(self.context["versions"], many=True, context=self.context).data
        )


class UseSerializer(serializers.ModelSerializer[Use]):
    entry = serializers.CharField(source="version.entry.slug")

    class Meta:
        model = Use
        fields = ("id", "entry", "version", "at", "values", "reason", "outcome", "incident", "note")


class CopiedSerializer(serializers.Serializer[Copied]):
    """A recorded use, and the script with the filled-in values."""

    use = serializers.IntegerField(source="use.pk")
    script = serializers.CharField(source="text")


class RatedSerializer(serializers.Serializer[Rated]):
    """A use with its outcome. `told` lists the users who copied the entry recently."""

    use = serializers.IntegerField(source="use.pk")
    outcome = serializers.CharField(source="use.outcome")
    told = serializers.SerializerMethodField()

    def get_told(self, rated: Rated) -> list[str]:
        return [user.username for user in rated.told]
