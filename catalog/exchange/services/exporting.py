"""Export entries as records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from django.db.models import Prefetch, QuerySet

from catalog.entries.services.versions import details_of
from catalog.exchange.formats import EntryRecord, OtherVersion, Wording, files_of
from catalog.models import Entry, Phrasing, Version
from catalog.version_details import VersionDetails

CHUNK = 100  # entries in memory at a time
State = Version.State
# If empty, these fields have no effect and are omitted from files. `tools` is not one of them, because an empty `tools`
# means that the script needs no tools.
_SAID_IF_ANY = ("parameters", "tags", "links", "check_before", "check_after", "undo")


def export_entries(
    *, state: State | None = None, among: QuerySet[Entry] | None = None
) -> Iterator[EntryRecord]:
    """Yield a record for each entry with all of its versions, sorted by slug. The main version is the verified version,
    or the newest version if none is verified.

    `state` limits the export to entries with a version in that state, and includes only their newest such version.
    `among` limits the export to these entries.
    """
    versions = Version.objects.select_related("author", "owner", "verified_by", "recheck")
    entries = Entry.objects.standing()
    if among is not None:
        entries = entries.filter(pk__in=among.order_by().values("pk"))
    if state is not None:
        versions = versions.filter(state=state)
        entries = entries.filter(versions__state=state).distinct()
    rows = (
        entries.order_by("slug")
        .defer("document")
        .select_related("created_by", "suspended_by")
        .prefetch_related(
            Prefetch("versions", versions.prefetch_related("tags")),
            Prefetch("phrasings", Phrasing.objects.defer("document")),
        )
    )
    for entry in rows.iterator(chunk_size=CHUNK):
        record = _record_of(entry, list(entry.versions.all()), whole=state is None)
        if record is not None:
            yield record


def version_files(
    version: Version, *, about: Mapping[str, object], suspended: str = "", state: State
) -> dict[str, bytes]:
    """Return the files of an entry's export folder, with only this version and the given state.

    The origin contains only `about`. Phrasings are omitted, because some are users' request texts or come from
    decisions that some users may not see.
    """
    record = EntryRecord(
        title=version.entry.title,
        script=version.script,
        owner=version.owner.username if version.owner else None,
        number=version.number,
        state=state.value,
        suspended=suspended or None,
        about=about,
        **dict(_said(version)),
    )
    return dict(files_of(record))


def _record_of(entry: Entry, versions: Sequence[Version], *, whole: bool) -> EntryRecord | None:
    if not versions:
        return None
    verified = [version for version in versions if version.state == State.VERIFIED]
    chosen = (verified or list(versions))[0]  # newest first
    others = [version for version in reversed(versions) if version is not chosen and whole]
    return EntryRecord(
        slug=entry.slug,
        title=entry.title,
        title_confirmed=False if _title_waits(entry) else None,
        phrasings=tuple(
            Wording.model_validate(
                {
                    "text": phrasing.text,
                    "source": phrasing.source,
                    "confirmed": False if phrasing.waits else None,
                }
            )
            for phrasing in entry.phrasings.all()
            if phrasing.source != Phrasing.Source.TITLE
        ),
        script=chosen.script,
        owner=chosen.owner.username if chosen.owner else None,
        number=chosen.number,
        state=State(chosen.state).value,
        suspended=entry.suspended_why or None,
        about=_about(chosen),
        versions=tuple(_other(version) for version in others),
        **dict(_said(chosen)),
    )


def _title_waits(entry: Entry) -> bool:
    return any(one.waits for one in entry.phrasings.all() if one.source == Phrasing.Source.TITLE)


def _other(version: Version) -> OtherVersion:
    return OtherVersion(
        number=version.number,
        state=State(version.state).value,
        script=version.script,
        about=_about(version),
        **dict(_said(version)),
    )


def _said(version: Version) -> VersionDetails:
    details = details_of(version)
    empty = [name for name in _SAID_IF_ANY if not getattr(details, name)]
    return details.model_copy(update=dict.fromkeys(empty))


def _about(version: Version) -> dict[str, object]:
    """Return the author, dates and origin of a version. An import stores them but does not trust them."""
    about = {
        "author": version.author.username if version.author else None,
        "created_at": version.created_at.isoformat(),
        "verified_by": version.verified_by.username if version.verified_by else None,
        "verified_at": version.verified_at.isoformat() if version.verified_at else None,
        "self_verified": version.self_verified or None,
        "provenance": version.provenance or None,
        "not_judged": version.not_judged or None,
        "lines": version.coverage.lines if version.coverage else None,
        "analyzed_lines": version.coverage.analyzed if version.coverage else None,
    }
    return {name: value for name, value in about.items() if value is not None}
