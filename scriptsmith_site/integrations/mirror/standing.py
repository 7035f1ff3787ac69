"""What of an entry the mirror may show: nothing that an open study hides, nor what came of that."""

from __future__ import annotations

from typing import NamedTuple

from catalog.models import Entry, Rollback, Version, VersionEvent
from scriptsmith_site.integrations.mirror.layout import Area
from scriptsmith_site.integrations.outbox.events.confidentiality import is_hidden


class Standing(NamedTuple):
    """Where an entry stands, and with which version."""

    area: Area
    version: Version


def standing_of(entry: Entry) -> Standing | None:
    """Where the entry stands now, as far as that may be told; None for one that was never verified."""
    once = list(
        entry.versions.filter(verified_at__isnull=False)
        .select_related("entry", "owner", "verified_by")
        .order_by("-number")
    )
    shown = [version for version in once if not is_hidden(version)]
    if not shown:
        return None
    verified = next((one for one in once if one.state == Version.State.VERIFIED), None)
    if verified is not None and verified not in shown:
        verified = _replaced_by(verified, once, shown)
    if verified is None or entry.merged_into_id is not None:
        return Standing(Area.DEPRECATED, verified or shown[0])
    return Standing(Area.SUSPENDED if entry.suspended_at else Area.VERIFIED, verified)


def _replaced_by(hidden: Version, once: list[Version], shown: list[Version]) -> Version | None:
    """What would answer had nothing hidden been verified: only that took it out of use."""
    number = hidden.number
    for version in once:
        last = version.events.order_by("-pk").first()
        if last is None or not _was_replaced(version, last, number):
            continue
        if version in shown:
            return version
        number = version.number
    return None


def _was_replaced(version: Version, last: VersionEvent, number: int) -> bool:
    """Whether the last that happened to it is that version `number` took its place, in an emergency or not."""
    # A roll back after it is the same change: anything else would have been the last.
    put_back = Rollback.objects.filter(
        replaced=version, version__number=number, is_emergency=True, at__gte=last.at
    )
    return last.note == f"replaced by version {number}" or put_back.exists()
