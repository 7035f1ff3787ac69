"""What of an entry the mirror may show: nothing that an open study hides, nor what came of that."""

from __future__ import annotations

from typing import NamedTuple

from catalog import services as catalog
from catalog.models import Entry, Version
from scriptsmith_site.integrations.mirror.layout import Area


class EntryStatus(NamedTuple):
    """In which area of the mirror an entry belongs, and with which version."""

    area: Area
    version: Version


def status_of(entry: Entry) -> EntryStatus | None:
    """Where the entry belongs now, as far as that may be told; None for one that was never verified."""
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
