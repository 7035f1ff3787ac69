"""The status of an entry that the mirror may show. It excludes content that an open study hides."""

from __future__ import annotations

from typing import NamedTuple

from catalog import services as catalog
from catalog.models import Entry, Version
from scriptsmith_site.integrations.mirror.layout import Area


class EntryStatus(NamedTuple):
    """The area of the mirror to which an entry belongs, and the version to show."""

    area: Area
    version: Version


def status_of(entry: Entry) -> EntryStatus | None:
    """Return the entry's area and version without hidden content, or None if no visible version was ever verified."""
    once = list(
        entry.versions.filter(verified_at__isnull=False)
        .select_related("entry", "owner", "verified_by")
        .order_by("-number")
    )
    hidden = catalog.withheld(once)
    shown = [version for version in once if version.pk not in hidden]
    if not shown:
        return None
    verified = next((one for one in once if one.state == Version.State.VERIFIED), None)
    if verified is not None:
        verified = catalog.version_outside(verified)
    if verified is None or entry.merged_into_id is not None:
        return EntryStatus(Area.DEPRECATED, verified or shown[0])
    return EntryStatus(Area.SUSPENDED if entry.suspended_at else Area.VERIFIED, verified)
