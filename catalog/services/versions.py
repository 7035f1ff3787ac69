"""Versions: editing, and their way from draft to verified and out of use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.audit import record
from catalog.details import VersionDetails
from catalog.models import Entry, Version
from catalog.services.base import CURATE, lock_entry, refresh, require
from catalog.services.making import Prepared, add_version, ensure_tags, prepare
from catalog.texts import LONGEST_REASON, clean_text
from catalog.types import BadInput, NotAllowedNow, Stale

State = Version.State


def edit_version(
    version: Version, *, script: str, details: VersionDetails, by: User, note: str = ""
) -> Version:
    """The next version, a draft by `by`, made from the newest one. Raises Stale, BadInput."""
    require(by, CURATE)
    note = clean_text(note, field="note", longest=LONGEST_REASON, required=False)
    prepared = prepare(script, details)
    with transaction.atomic():
        entry = lock_entry(version.entry_id)
        newest = entry.versions.latest("number")
        if newest.number != version.number:
            raise Stale(
                _("Version %(number)s has been made meanwhile; look at it first.")
                % {"number": newest.number},
                newest=newest.number,
            )
        if newest.sha256 == prepared.sha256 and details == details_of(newest):
            raise BadInput(_("Nothing was changed."), field="script")
        return _add_edited(entry, version, prepared=prepared, by=by, note=note, origin="edited")


def revert_to(version: Version, *, by: User, note: str = "") -> Version:
    """The next version, a draft, with the script and the details of an older one."""
    require(by, CURATE)
    note = clean_text(note, field="note", longest=LONGEST_REASON, required=False)
    prepared = prepare(version.script, details_of(version))
    with transaction.atomic():
        entry = lock_entry(version.entry_id)
        newest = entry.versions.latest("number")
        if newest.number == version.number:
            raise NotAllowedNow(_("This is the newest version already."))
        return _add_edited(entry, version, prepared=prepared, by=by, note=note, origin="reverted")


@transaction.atomic
def set_details(
    version: Version,
    *,
    by: User,
    tags: Sequence[str],
    links: Sequence[Mapping[str, object]],
    owner: User | None,
) -> None:
    """Change what says nothing about how to run the script: tags, links, owner.

    Everything else is part of what was verified, so that changing it makes a new version.
    """
    require(by, CURATE)
    details = VersionDetails.read({"tags": tags, "links": links})
    lock_entry(version.entry_id)
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


@transaction.atomic
def submit_for_review(version: Version, *, by: User, note: str = "") -> None:
    """A draft, or a deprecated version that is wanted again, waits for somebody to verify it."""
    require(by, CURATE)
    _move(version, State.IN_REVIEW, by=by, note=_clean_note(note), event="submitted for review")


@transaction.atomic
def send_back(version: Version, *, by: User, reason: str) -> None:
    """What was in review is a draft again, and the reason says what is missing."""
    require(by, CURATE)
    reason = clean_text(reason, field="reason", longest=LONGEST_REASON)
    _move(version, State.DRAFT, by=by, note=reason, event="sent back")


@transaction.atomic
def deprecate(version: Version, *, by: User, reason: str) -> None:
    """The version is out of use; where it was the verified one, the entry answers no more."""
    require(by, CURATE)
    reason = clean_text(reason, field="reason", longest=LONGEST_REASON)
    _move(version, State.DEPRECATED, by=by, note=reason, event="deprecated")


@transaction.atomic
def verify(version: Version, *, by: User, note: str = "") -> None:
    """Put the person's name to the version: it answers from now on, and the former one no more.

    Raises PermissionDenied for who wrote it (four eyes), unless a team of one may by its setting.
    """
    require(by, CURATE)
    note = _clean_note(note)
    if not may_verify(version, by=by):
        raise PermissionDenied(
            _("You wrote this version, so somebody else has to verify it (four eyes).")
        )
    lock_entry(version.entry_id)
    version.refresh_from_db(fields=["state"])
    mark_verified(version, by=by, note=note)
    refresh([version.entry_id])


def may_verify(version: Version, *, by: User) -> bool:
    """Whether the four-eyes rule lets this person verify it; says nothing of roles and states."""
    return version.author_id != by.pk or settings.SCRIPTSMITH_SELF_VERIFY


def mark_verified(version: Version, *, by: User | None, note: str) -> None:
    """Make a version of a locked entry the verified one; its permission was asked for."""
    for former in Version.objects.filter(entry=version.entry_id, state=State.VERIFIED):
        if former.pk != version.pk:
            former.move_to(State.DEPRECATED, by=by, note=f"replaced by version {version.number}")
    old = State(version.state)
    version.move_to(
        State.VERIFIED,
        by=by,
        note=note,
        verified_at=timezone.now(),
        verified_by=by,
        self_verified=by is not None and version.author_id == by.pk,
    )
    record(version, "verified", by=by, state=(old, State.VERIFIED))


def details_of(version: Version) -> VersionDetails:
    """What is known about the version, in the shape that forms and files have."""
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
    return version


def _move(version: Version, state: State, *, by: User, note: str, event: str) -> None:
    lock_entry(version.entry_id)
    version.refresh_from_db(fields=["state"])
    old = State(version.state)
    version.move_to(state, by=by, note=note)
    record(version, event, by=by, state=(old, state))
    refresh([version.entry_id])


def _clean_note(note: str) -> str:
    return clean_text(note, field="note", longest=LONGEST_REASON, required=False)
