"""Services to edit a version, revert to an older version, and compare details."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from django.contrib.auth.models import User
from django.db import models, transaction
from django.utils.translation import gettext as _

from catalog.access import CURATE, require
from catalog.entries.services.creation import Prepared, add_version, ensure_tags, prepare
from catalog.entries.services.derived_data import refresh
from catalog.entries.services.locks import lock_standing
from catalog.evidence.services import request_runs
from catalog.models import CaseRun, Entry, Version
from catalog.version_details import VersionDetails
from core.audit import record
from core.errors import BadInput, NotAllowedNow, Stale
from core.texts import LONGEST_REASON, clean_text, name_of


def edit_version(
    version: Version, *, script: str, details: VersionDetails, by: User, note: str = ""
) -> Version:
    """Create the next version as a draft by `by`. Raises Stale if `version` is not the newest version, or BadInput."""
    require(by, CURATE)
    note = clean_text(note, field="note", longest=LONGEST_REASON, required=False)
    prepared = prepare(script, details)
    with transaction.atomic():
        entry = lock_standing(version.entry_id)
        newest = entry.versions.latest("number")
        if newest.number != version.number:
            raise Stale(
                _("%(who)s saved version %(number)s in the meantime. Review it first.")
                % {"number": newest.number, "who": name_of(newest.author)},
                newest=newest.number,
            )
        if newest.sha256 == prepared.sha256 and details == details_of(newest):
            raise BadInput(_("There are no changes to save."), field="script")
        return _add_edited(entry, version, prepared=prepared, by=by, note=note, origin="edited")


def revert_to(version: Version, *, by: User, note: str = "") -> Version:
    """Create the next version as a draft with an older version's script and details."""
    require(by, CURATE)
    note = clean_text(note, field="note", longest=LONGEST_REASON, required=False)
    prepared = prepare(version.script, details_of(version))
    with transaction.atomic():
        entry = lock_standing(version.entry_id)
        newest = entry.versions.latest("number")
        if newest.number == version.number:
            raise NotAllowedNow(_("This is already the newest version."))
        return _add_edited(entry, version, prepared=prepared, by=by, note=note, origin="reverted")


@transaction.atomic
def set_details(
    version: Version,
    *,
    by: User,
    tags: Sequence[str],
    links: Sequence[Mapping[str, object]],
    owner: User | None,
    seen: str = "",
) -> None:
    """Change tags, links and owner, which do not affect how the script runs.

    All other details are part of the verification, so changing them creates a new version. Raises Stale if the values
    have changed since the user saw them (`labels_seen`), NotAllowedNow or BadInput.
    """
    require(by, CURATE)
    details = VersionDetails.read({"tags": tags, "links": links})
    lock_standing(version.entry_id)
    version = Version.objects.select_related("owner", "entry").get(pk=version.pk)
    if seen and seen != labels_seen(version):
        raise Stale(
            _(
                "Another user has changed these details. Current values: tags %(tags)s; owner "
                "%(owner)s; %(links)s links."
            )
            % {
                "tags": ", ".join(sorted(tag.name for tag in version.tags.all())) or "–",
                "owner": version.owner.username if version.owner else "–",
                "links": len(version.links),
            },
            newest=version.number,
        )
    old = details_of(version)
    version.tags.set(ensure_tags(details.tags or ()))
    record(
        version,
        "details changed",
        by=by,
        tags=(" ".join(old.tags or ()), " ".join(details.tags or ())),
        owner=(version.owner or "", owner or ""),
        links=(len(old.links or ()), len(details.links or ())),
    )
    version.owner = owner
    version.links = [link.model_dump(mode="json") for link in details.links or ()]
    version.save(update_fields=["owner", "links"])
    refresh([version.entry_id])


def labels_seen(version: Version) -> str:
    """Return a short hash of tags, owner and links, to detect conflicts."""
    labels = (sorted(tag.name for tag in version.tags.all()), version.owner_id, version.links)
    return hashlib.sha256(repr(labels).encode()).hexdigest()[:16]


def details_of(version: Version) -> VersionDetails:
    """Return the version's details in the format of forms and files."""
    return VersionDetails.model_validate(
        {
            "parameters": version.parameters,
            "tags": sorted(tag.name for tag in version.tags.all()),
            "risk": version.risk,
            "side_effect": version.side_effect,
            "runs_on": version.runs_on,
            "operating_system": version.operating_system,
            "shell": version.shell,
            "tools": version.tools,
            "privileges": version.privileges,
            "check_before": version.check_before,
            "check_after": version.check_after,
            "undo": version.undo,
            "repeatable": version.repeatable,
            "links": version.links,
        }
    )


class ChangedDetail(NamedTuple):
    """A detail that differs between two versions, with both values as text."""

    name: str
    old: str
    new: str


def compare_details(
    old: Version, new: Version, *, without: Collection[str] = ()
) -> list[ChangedDetail]:
    """Return the details that differ between two versions, except for those in `without`."""
    before, after = details_of(old).model_dump(mode="json"), details_of(new).model_dump(mode="json")
    return [
        ChangedDetail(_name_of_field(name), _words(before[name]), _words(after[name]))
        for name in before
        if before[name] != after[name] and name not in without
    ]


def _name_of_field(name: str) -> str:
    field = Version._meta.get_field(name)
    return str(field.verbose_name) if isinstance(field, models.Field) else name


def _words(value: object) -> str:
    if isinstance(value, list):
        return "; ".join(_words(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_words(item)}" for name, item in value.items() if item)
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return "" if value is None else str(value)


def _add_edited(
    entry: Entry, source: Version, *, prepared: Prepared, by: User, note: str, origin: str
) -> Version:
    version = add_version(
        entry,
        prepared,
        author=by,
        owner=source.owner,
        by=by,
        note=note,
        provenance={"origin": origin, "from_version": source.number},
    )
    record(version, f"version {origin}", by=by, number=(source.number, version.number))
    refresh([entry.pk])
    request_runs(version, purpose=CaseRun.Purpose.EDITED, by=by)
    return version
