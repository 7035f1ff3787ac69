"""What of entries may be told outside: no version that an open study looks at, nor what was made from one."""

from __future__ import annotations

from collections.abc import Iterable

from catalog import hooks
from catalog.models import Entry, Rollback, Version, VersionEvent


def runs_behind(version: Version) -> set[int]:
    """The runs that a version came from, by way of every version that it was made from."""
    return _runs_behind([version])[version.pk]


def withheld(versions: Iterable[Version]) -> set[int]:
    """Those that an open study hides, by their keys. One query, and one of whoever knows of studies."""
    behind = _runs_behind(list(versions))
    studied = set(hooks.runs_studied(set().union(*behind.values())))
    return {pk for pk, runs in behind.items() if runs & studied}


def is_withheld(version: Version) -> bool:
    """Whether an open study hides it."""
    return bool(withheld([version]))


def is_entry_withheld(entry: Entry) -> bool:
    """Whether open studies hide every version of it, and so that there is such an entry."""
    versions = list(Version.objects.filter(entry=entry).only("entry", "number"))
    return bool(versions) and len(withheld(versions)) == len(versions)


def version_outside(version: Version) -> Version | None:
    """What stands for an entry outside, where this is its verified version; None where nothing does.

    As long as a study hides that one, it is what would answer had nothing hidden been verified.
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
    """Whether the last that happened to it is that version `number` took its place, in an emergency or not."""
    # A roll back after it is the same change: anything else would have been the last.
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
