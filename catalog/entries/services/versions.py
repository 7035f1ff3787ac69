"""Versions: editing, and their way from draft to verified and out of use."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.access import CURATE, require
from catalog.entries.services.creation import Prepared, add_version, ensure_tags, prepare
from catalog.entries.services.derived_data import refresh
from catalog.entries.services.locks import lock_standing
from catalog.entries.services.wording_confirmation import confirm
from catalog.models import Entry, Version, VersionEvent
from catalog.version_details import VersionDetails
from core.audit import record
from core.errors import BadInput, NotAllowedNow, Stale
from core.texts import LONGEST_REASON, clean_text, name_of

State = Version.State


def edit_version(
    version: Version, *, script: str, details: VersionDetails, by: User, note: str = ""
) -> Version:
    """The next version, a draft by `by`, made from the newest one. Raises Stale, BadInput."""
    require(by, CURATE)
    note = clean_text(note, field="note", longest=LONGEST_REASON, required=False)
    prepared = prepare(script, details)
    with transaction.atomic():
        entry = lock_standing(version.entry_id)
        newest = entry.versions.latest("number")
        if newest.number != version.number:
            raise Stale(
                _("Version %(number)s has been made meanwhile by %(who)s; look at it first.")
                % {"number": newest.number, "who": name_of(newest.author)},
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
        entry = lock_standing(version.entry_id)
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
    seen: str = "",
) -> None:
    """Change what says nothing about how to run the script: tags, links, owner.

    Everything else is part of what was verified, so that changing it makes a new version. Raises
    Stale where they are no longer those that the person saw (`labels_seen`), NotAllowedNow, BadInput.
    """
    require(by, CURATE)
    details = VersionDetails.read({"tags": tags, "links": links})
    lock_standing(version.entry_id)
    version = Version.objects.select_related("owner", "entry").get(pk=version.pk)
    if seen and seen != labels_seen(version):
        raise Stale(
            _(
                "Somebody changed them meanwhile. Now: tags %(tags)s; owner %(owner)s; %(links)s links."
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
    """Tags, owner and links as a short text that changes with them."""
    labels = (sorted(tag.name for tag in version.tags.all()), version.owner_id, version.links)
    return hashlib.sha256(repr(labels).encode()).hexdigest()[:16]


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
def verify(version: Version, *, by: User, note: str = "", wordings: Collection[int] = ()) -> None:
    """Put the person's name to the version: it answers from now on, and the former one no more.

    Of the entry's wordings that wait, those with the keys `wordings`, which the person has seen, are confirmed
    with it, but for their own. Raises BadInput where a high risk is given no reason, and PermissionDenied for
    who wrote it (four eyes), unless a team of one may by its setting.
    """
    require(by, CURATE)
    note = _clean_note(note)
    if not may_verify(version, by=by):
        raise PermissionDenied(
            _("You wrote this version, so somebody else has to verify it (four eyes).")
        )
    entry = lock_standing(version.entry_id)
    version.refresh_from_db(fields=["state", "risk"])
    require_reason(version, note, field="note")
    mark_verified(version, by=by, note=note)
    confirm(entry, wordings, by=by)
    refresh([version.entry_id])


@transaction.atomic
def verify_again(
    version: Version, *, by: User, note: str = "", wordings: Collection[int] = ()
) -> None:
    """Put the person's name and today's date to what is verified: it was looked at and still holds.

    Four eyes, reason and `wordings` as for `verify`. Raises PermissionDenied, BadInput, and NotAllowedNow for what
    is not verified.
    """
    require(by, CURATE)
    note = _clean_note(note)
    if not may_verify(version, by=by):
        raise PermissionDenied(
            _("You wrote this version, so somebody else has to verify it (four eyes).")
        )
    entry = lock_standing(version.entry_id)
    version.refresh_from_db(fields=["state", "verified_at", "risk"])
    require_reason(version, note, field="note")
    if version.state != State.VERIFIED:
        raise NotAllowedNow(_("Only what is verified can be verified again."))
    former = version.verified_at
    version.verified_at = timezone.now()
    version.verified_by = by
    version.self_verified = version.author_id == by.pk
    version.save(update_fields=["verified_at", "verified_by", "self_verified"])
    VersionEvent.objects.create(
        version=version, old=State.VERIFIED, new=State.VERIFIED, by=by, note=note
    )
    confirm(entry, wordings, by=by)
    record(
        version,
        "verified again",
        by=by,
        verified=(former, version.verified_at),
        **_because(version, note),
    )


def may_verify(version: Version, *, by: User) -> bool:
    """Whether the four-eyes rule lets this person verify it; says nothing of roles and states."""
    return version.author_id != by.pk or settings.SCRIPTSMITH_SELF_VERIFY


def require_reason(version: Version, reason: str, *, field: str) -> None:
    """Raise BadInput where the version is a high risk and nobody says why it may be verified all the same."""
    if version.takes_reason and not reason:
        raise BadInput(
            _("This script is a high risk. Say why it may be verified all the same."), field=field
        )


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
    record(version, "verified", by=by, state=(old, State.VERIFIED), **_because(version, note))


def _because(version: Version, note: str) -> dict[str, tuple[object, object]]:
    return {"reason": ("", note[:200])} if version.takes_reason else {}


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


class ChangedDetail(NamedTuple):
    """Something beside the script in which two versions differ, in words."""

    name: str
    old: str
    new: str


def compare_details(old: Version, new: Version) -> list[ChangedDetail]:
    """In what two versions differ beside their scripts."""
    before, after = details_of(old).model_dump(mode="json"), details_of(new).model_dump(mode="json")
    return [
        ChangedDetail(_name_of_field(name), _words(before[name]), _words(after[name]))
        for name in before
        if before[name] != after[name]
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
    return version


def _move(version: Version, state: State, *, by: User, note: str, event: str) -> None:
    lock_standing(version.entry_id)
    version.refresh_from_db(fields=["state"])
    old = State(version.state)
    version.move_to(state, by=by, note=note)
    record(version, event, by=by, state=(old, state))
    refresh([version.entry_id])


def _clean_note(note: str) -> str:
    return clean_text(note, field="note", longest=LONGEST_REASON, required=False)
