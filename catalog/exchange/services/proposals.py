"""Versions that users propose in files. New versions are added in review. Neither their submitter nor their authors can
verify them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.translation import gettext as _

from catalog.access import CURATE, require
from catalog.entries.services.creation import add_version, make_entry, prepare
from catalog.entries.services.derived_data import refresh
from catalog.entries.services.lifecycle import ALSO_BY
from catalog.entries.services.locks import lock_standing
from catalog.entries.services.versions import details_of
from catalog.entries.services.wording_confirmation import Confirmation
from catalog.evidence.services import request_runs
from catalog.exchange.formats import EntryRecord, Row, read_folders
from catalog.exchange.formats.folders import Folder
from catalog.models import CaseRun, Entry, Version
from core.audit import record as audit
from core.database.advisory_lock import lock_name
from core.errors import BadInput
from core.files.lines import MOST_BYTES, say_too_long

State = Version.State


class _Files:
    """A folder in memory."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    @property
    def name(self) -> str:
        return "folder"

    def has(self, name: str) -> bool:
        return name in self._files

    def read(self, name: str) -> bytes:
        if name not in self._files:
            raise ValueError(f"{name} is missing")
        if len(self._files[name]) > MOST_BYTES:
            raise ValueError(f"{name} {say_too_long()}")
        return self._files[name]

    def folders(self) -> Sequence[Folder]:
        return []


def read_proposal(files: Mapping[str, bytes]) -> Row:
    """Return the entry defined by a folder's files, or the problem with the files."""
    rows = list(read_folders(_Files(files)))
    return rows[0] if rows else Row(place="folder", problem="metadata.yaml is missing")


def propose(
    record: EntryRecord,
    *,
    entry: Entry | None,
    by: User,
    origin: Mapping[str, object],
    also_by: Collection[int] = (),
) -> Version:
    """Add a version in review to the entry, or to a new entry if `entry` is None.

    The submitter `by` becomes the author. `also_by` contains the IDs of other users who may have written the version
    and can't verify it either. Raises PermissionDenied, NotAllowedNow, or BadInput if nothing would change.
    """
    require(by, CURATE)
    # Labels do not affect how the script runs, so the catalogue's labels are kept.
    prepared = prepare(record.script, record.details)
    provenance = {**origin, ALSO_BY: sorted(also_by)}
    with transaction.atomic():
        lock_name(f"script {prepared.sha256}")
        if entry is None:
            _refuse_twin(prepared.sha256)
            target = make_entry(record.title, by=by, confirmation=Confirmation(added_by=by))
        else:
            target = lock_standing(entry.pk)
            _refuse_known(target, prepared.sha256, record)
        version = add_version(
            target, prepared, author=by, by=by, provenance=provenance, state=State.IN_REVIEW
        )
        audit(version, "submitted for review", by=by, state=("", State.IN_REVIEW))
        request_runs(version, purpose=CaseRun.Purpose.EDITED, by=by)
        refresh([target.pk])
    return version


def _refuse_twin(sha256: str) -> None:
    twin = Entry.objects.filter(versions__sha256=sha256).first()
    if twin is not None:
        raise BadInput(
            _("“%(title)s” already has this script.") % {"title": twin.title}, field="script"
        )


def _refuse_known(entry: Entry, sha256: str, record: EntryRecord) -> None:
    said = record.details
    for version in entry.versions.filter(sha256=sha256).prefetch_related("tags"):
        known = details_of(version)
        names = [name for name, value in said.model_dump().items() if value is not None]
        if all(getattr(known, name) == getattr(said, name) for name in names):
            raise BadInput(
                _("Version %s already has this script and these details.") % version.number,
                field="script",
            )
