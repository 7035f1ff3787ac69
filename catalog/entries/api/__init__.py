"""The API for entries, versions and uses. It calls the same services as the pages."""

from catalog.entries.api.entries import EntryViewSet
from catalog.entries.api.uses import UseViewSet
from catalog.entries.api.versions import VersionViewSet

__all__ = ["EntryViewSet", "UseViewSet", "VersionViewSet"]
