"""State changes of a version: submit, verify by a second user, send back, deprecate."""

from __future__ import annotations

from collections.abc import Collection

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.access import CURATE, require
from catalog.entries.services.derived_data import refresh
from catalog.entries.services.locks import lock_standing
from catalog.entries.services.wording_confirmation import confirm
from catalog.evidence.services import request_runs
from catalog.models import CaseRun, Rollback, Version, VersionEvent
from core.audit import record
from core.errors import BadInput, NotAllowedNow
from core.texts import LONGEST_REASON, clean_text

State = Version.State
# Key in a version's provenance: the IDs of other users who may have written the version.
ALSO_BY = "also_by"


@transaction.atomic
def submit_for_review(version: Version, *, by: User, note: str = "") -> None:
    """Submit a draft or a deprecated version for verification."""
    require(by, CURATE)
    _move(version, State.IN_REVIEW, by=by, note=_clean_note(note), event="submitted for review")


@transaction.atomic
def send_back(version: Version, *, by: User, reason: str) -> None:
    """Send a version in review back to draft. The reason says what is missing."""
    require(by, CURATE)
    reason = clean_text(reason, field="reason", longest=LONGEST_REASON)
    _move(version, State.DRAFT, by=by, note=reason, event="sent back")


@transaction.atomic
def deprecate(version: Version, *, by: User, reason: str) -> None:
    """Deprecate the version. An entry without a live version no longer answers requests."""
    require(by, CURATE)
    reason = clean_text(reason, field="reason", longest=LONGEST_REASON)
    _move(version, State.DEPRECATED, by=by, note=reason, event="deprecated")


@transaction.atomic
def verify(version: Version, *, by: User, note: str = "", wordings: Collection[int] = ()) -> None:
    """Verify the version and make it the live version.

    Also confirm the phrasings in `wordings`, which the user has seen, except for the user's own phrasings. Raises
    BadInput for a high risk without a reason. Raises PermissionDenied for the author (four-eyes rule), unless the
    setting for teams of one allows self-verification.
    """
    require(by, CURATE)
    note = _clean_note(note)
    if not may_verify(version, by=by):
        raise PermissionDenied(
            _("You wrote this version, so another curator has to verify it (four-eyes approval).")
        )
    entry = lock_standing(version.entry_id)
    version.refresh_from_db(fields=["state", "risk"])
    require_reason(version, note, field="note")
    mark_verified(version, by=by, note=note)
    request_runs(version, purpose=CaseRun.Purpose.VERIFIED, by=by)
    confirm(entry, wordings, by=by)
    refresh([version.entry_id])


@transaction.atomic
def verify_again(
    version: Version, *, by: User, note: str = "", wordings: Collection[int] = ()
) -> None:
    """Confirm that the live version is still correct, with the user's name and today's date.

    This also confirms an emergency rollback by its author. The four-eyes rule, the reason and `wordings` work as in
    `verify`. Raises PermissionDenied, BadInput, or NotAllowedNow if the version is not verified.
    """
    require(by, CURATE)
    note = _clean_note(note)
    if not may_verify(version, by=by):
        raise PermissionDenied(
            _("You wrote this version, so another curator has to verify it (four-eyes approval).")
        )
    entry = lock_standing(version.entry_id)
    version.refresh_from_db(fields=["state", "verified_at", "risk"])
    require_reason(version, note, field="note")
    if version.state != State.VERIFIED:
        raise NotAllowedNow(_("Only verified versions can be verified again."))
    former = version.verified_at
    version.verified_at = timezone.now()
    version.verified_by = by
    version.self_verified = by.pk in writers_of(version)
    version.save(update_fields=["verified_at", "verified_by", "self_verified"])
    VersionEvent.objects.create(
        version=version, old=State.VERIFIED, new=State.VERIFIED, by=by, note=note
    )
    confirm(entry, wordings, by=by)
    _confirm_emergencies(version, by=by)
    request_runs(version, purpose=CaseRun.Purpose.VERIFIED, by=by)
    record(
        version,
        "verified again",
        by=by,
        verified=(former, version.verified_at),
        **_because(version, note),
    )


def may_verify(version: Version, *, by: User) -> bool:
    """Return whether the four-eyes rule allows this user to verify the version. Roles and states are not checked."""
    return by.pk not in writers_of(version) or settings.SCRIPTSMITH_SELF_VERIFY


def writers_of(version: Version) -> set[int]:
    """Return the IDs of the version's author and of other users who may have written it."""
    known = {version.author_id} if version.author_id is not None else set()
    return known | set((version.provenance or {}).get(ALSO_BY, ()))


def require_reason(version: Version, reason: str, *, field: str) -> None:
    """Raise BadInput if the version is high risk and `reason` is empty."""
    if version.takes_reason and not reason:
        raise BadInput(
            _("This script is high risk. Enter a reason why it is safe to verify."),
            field=field,
        )


def mark_verified(version: Version, *, by: User | None, note: str) -> None:
    """Make a version of a locked entry the live version. The caller must have checked the permission."""
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
        self_verified=by is not None and by.pk in writers_of(version),
    )
    _confirm_emergencies(version, by=by)
    record(version, "verified", by=by, state=(old, State.VERIFIED), **_because(version, note))


def _confirm_emergencies(version: Version, *, by: User | None) -> None:
    """Confirm other users' emergency rollbacks to this version."""
    waiting = Rollback.objects.filter(version=version, is_emergency=True, confirmed_at=None)
    if by is not None:
        waiting.exclude(by=by).update(confirmed_by=by, confirmed_at=timezone.now())


def _because(version: Version, note: str) -> dict[str, tuple[object, object]]:
    return {"reason": ("", note[:200])} if version.takes_reason else {}


def _move(version: Version, state: State, *, by: User, note: str, event: str) -> None:
    lock_standing(version.entry_id)
    version.refresh_from_db(fields=["state"])
    old = State(version.state)
    version.move_to(state, by=by, note=note)
    record(version, event, by=by, state=(old, state))
    refresh([version.entry_id])
    if state == State.IN_REVIEW:
        request_runs(version, purpose=CaseRun.Purpose.EDITED, by=by)


def _clean_note(note: str) -> str:
    return clean_text(note, field="note", longest=LONGEST_REASON, required=False)
