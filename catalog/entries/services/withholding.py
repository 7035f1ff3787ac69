"""Find versions that external callers may not see, because they or their ancestors are in an open study."""

from __future__ import annotations

from collections.abc import Iterable

from catalog import hooks
from catalog.models import Entry, Rollback, Version, VersionEvent


def runs_behind(version: Version) -> set[int]:
    """Return the runs that produced the version or any version that it is based on."""
    return _runs_behind([version])[version.pk]


def withheld(versions: Iterable[Version]) -> set[int]:
    """Return the keys of the versions that an open study hides, with one query and one hook call."""
    behind = _runs_behind(list(versions))
    studied = set(hooks.runs_studied(set().union(*behind.values())))
    return {pk for pk, runs in behind.items() if runs & studied}


def is_withheld(version: Version) -> bool:
    """Return whether an open study hides the version."""
    return bool(withheld([version]))


def is_entry_withheld(entry: Entry) -> bool:
    """Return whether open studies hide every version of the entry. The entry itself is then hidden, too."""
    versions = list(Version.objects.filter(entry=entry).only("entry", "number"))
    return bool(versions) and len(withheld(versions)) == len(versions)


def version_outside(version: Version) -> Version | None:
    """Return the version that external callers may see in place of this verified version, or None.

    If a study hides the verified version, return the version that would be live if no hidden version had been verified.
    """
    if not is_withheld(version):
        return version
    once = list(
        Version.objects.filter(entry=version.entry_id, verified_at__isnull=False)
        .select_related("entry", "owner", "verified_by")
        .order_by("-number")
    )
    hidden = withheld(once)
    number = version.number
    for former in once:
        last = former.events.order_by("-pk").first()
        if last is None or not _was_replaced(former, last, number):
            continue
        if former.pk not in hidden:
            return former
        number = former.number
    return None


def _was_replaced(version: Version, last: VersionEvent, number: int) -> bool:
    """Return whether the version's last change was its replacement by version `number`, including in an emergency."""
    # A rollback at or after the last event belongs to that event. Any other change would have added a later event.
    put_back = Rollback.objects.filter(
        replaced=version, version__number=number, is_emergency=True, at__gte=last.at
    )
    return last.note == f"replaced by version {number}" or put_back.exists()


def _runs_behind(versions: list[Version]) -> dict[int, set[int]]:
    entries = {version.entry_id for version in versions}
    rows = Version.objects.filter(entry__in=entries).values_list("entry", "number", "provenance")
    made_by = {(entry, number): provenance or {} for entry, number, provenance in rows}
    found = {}
    for version in versions:
        runs: set[int] = set()
        seen: set[int] = set()
        number: object = version.number
        while isinstance(number, int) and number not in seen:
            seen.add(number)
            here = made_by.get((version.entry_id, number), {})
            run, number = here.get("run"), here.get("from_version")
            if isinstance(run, int):
                runs.add(run)
        found[version.pk] = runs
    return found
