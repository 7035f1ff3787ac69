"""The queue of publications to commit, with one row per publication, in event order."""

from __future__ import annotations

from catalog.models import Entry, Version
from scriptsmith_site.integrations.outbox.events.confidentiality import is_hidden
from scriptsmith_site.integrations.outbox.events.subjects import Subject
from scriptsmith_site.models import Event, Mirror, MirrorCommit

_KINDS = {
    "version.verified": MirrorCommit.Kind.VERIFIED,
    "version.verified_again": MirrorCommit.Kind.VERIFIED,
    "version.rolled_back": MirrorCommit.Kind.VERIFIED,
    "version.deprecated": MirrorCommit.Kind.DEPRECATED,
    "entry.suspended": MirrorCommit.Kind.SUSPENDED,
    "entry.reinstated": MirrorCommit.Kind.REINSTATED,
    "entry.renamed": MirrorCommit.Kind.RENAMED,
    "entry.merged": MirrorCommit.Kind.MERGED,
    "entry.unmerged": MirrorCommit.Kind.UNMERGED,
}
_STUDY_CLOSED = "campaign.closed"


def queue_publication(event: Event, _subject: Subject | None) -> None:
    """Queue a commit for an event, in the transaction that distributes the event."""
    if event.type == _STUDY_CLOSED:
        # Queue the withheld rows again, in their original order.
        withheld = MirrorCommit.objects.filter(state=MirrorCommit.State.WITHHELD)
        withheld.update(state=MirrorCommit.State.WAITING)
        return
    kind = _KINDS.get(event.type)
    if kind is None or not Mirror.objects.exists():
        return
    is_version = event.model == Version._meta.label_lower
    entry = event.object_id
    if is_version:
        entry = Version.objects.values_list("entry", flat=True).get(pk=event.object_id)
    MirrorCommit.objects.get_or_create(
        uid=event.uid,
        defaults={
            "kind": kind,
            "entry_id": entry,
            "version_id": event.object_id if is_version else None,
            "by": event.by,
            "at": event.at,
        },
    )


def queue_snapshot() -> None:
    """Queue a row for each active or suspended entry. The rows become the first commit.

    A version that an open study hides gets its own row, which waits until the study is closed.
    """
    verified = Version.objects.filter(
        state=Version.State.VERIFIED, entry__in=Entry.objects.standing()
    )
    versions = list(verified.defer("script", "findings").order_by("entry"))
    MirrorCommit.objects.bulk_create(
        MirrorCommit(kind=MirrorCommit.Kind.SNAPSHOT, entry_id=version.entry_id)
        for version in versions
    )
    MirrorCommit.objects.bulk_create(
        MirrorCommit(
            kind=MirrorCommit.Kind.VERIFIED,
            entry_id=version.entry_id,
            version_id=version.pk,
            by_id=version.verified_by_id,
            at=version.verified_at or version.created_at,
        )
        for version in versions
        if is_hidden(version)
    )
