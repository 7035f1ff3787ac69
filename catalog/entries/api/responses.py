"""API responses with an entry or a version and its usage record."""

from __future__ import annotations

from django.contrib.auth.models import AnonymousUser, User
from rest_framework.response import Response

from catalog.access import access_entries, access_versions
from catalog.entries import services
from catalog.entries.serializers import EntrySerializer, VersionSerializer
from catalog.models import Entry, Version


def entry_response(user: User | AnonymousUser, entry: Entry) -> Response:
    """Return the entry with its phrasings and all its versions."""
    versions = list(access_versions(user).filter(entry=entry))
    records = services.track_records([version.pk for version in versions])
    context = {"versions": versions, "records": records}
    return Response(EntrySerializer(entry, context=context).data)


def changed_entry_response(user: User | AnonymousUser, slug: str) -> Response:
    """Return the entry, reloaded after a change."""
    return entry_response(user, access_entries(user).get(slug=slug))


def version_response(version: Version) -> Response:
    """Return the version with its details and usage record."""
    records = services.track_records([version.pk])
    return Response(VersionSerializer(version, context={"records": records}).data)


def changed_version_response(version: Version, *, status: int = 200) -> Response:
    """Return the version, reloaded after a change."""
    people = ("entry", "author", "owner", "verified_by")
    response = version_response(Version.objects.select_related(*people).get(pk=version.pk))
    response.status_code = status
    return response
