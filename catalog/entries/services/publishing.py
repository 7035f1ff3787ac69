"""Publish or withdraw an approved script."""

from __future__ import annotations

from collections.abc import Mapping

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _

from catalog.entries.services.creation import (
    Prepared,
    add_phrasings,
    add_version,
    make_entry,
    prepare,
    title_of,
)
from catalog.entries.services.derived_data import refresh
from catalog.entries.services.entries import merged_into
from catalog.entries.services.lifecycle import mark_verified, require_reason
from catalog.entries.services.locks import lock_entry
from catalog.entries.services.wording_confirmation import Confirmation, confirm, confirmation_by
from catalog.evidence.services import request_runs
from catalog.models import CaseRun, Entry, Phrasing, Version
from catalog.version_details import VersionDetails
from core.audit import record
from core.database.advisory_lock import lock_name
from core.errors import NotAllowedNow
from core.texts import LONGEST_STATEMENT, LONGEST_TITLE, clean_text

State = Version.State


def publish(
    *,
    statement: str,
    script: str,
    by: User,
    author: User | None,
    verified: bool,
    provenance: Mapping[str, object],
    asked_by: User | None = None,
    reason: str = "",
    details: VersionDetails | None = None,
    entry: Entry | None = None,
) -> Version:
    """Add an approved script to the catalogue under its statement, and return its version.

    If an entry that is not suspended has the same verified script, the statement becomes one of its phrasings.
    Otherwise, a new version of `entry` or of a new entry is created. The version is verified immediately if `verified`
    is set and its author is a model (`author` is None) or a user other than `by`. Other versions stay in review. If a
    suspended entry has the script, the version also stays in review, because an approval must not bypass the
    suspension.

    The author of the phrasing is `author` or else the requester, `asked_by`. If `by` is a different user, the approval
    confirms the phrasing. An unconfirmed phrasing only suggests a starting point.

    The caller must check that `by` may approve the script. Raises BadInput, also for a high risk without a `reason`.
    """
    statement = clean_text(statement, field="statement", longest=LONGEST_STATEMENT)
    prepared = prepare(script, details)
    wording = confirmation_by(author or asked_by, by=by)
    with transaction.atomic():
        lock_name(f"script {prepared.sha256}")
        twin = _verified_twin(prepared)
        if twin is not None and twin.entry.suspended_at is None:
            _add_statement(twin.entry, statement, by=by, wording=wording)
            return twin
        target = (
            make_entry(title_of(statement, longest=LONGEST_TITLE), by=by, confirmation=wording)
            if entry is None
            else lock_entry(merged_into(entry).pk)
        )
        version = add_version(
            target, prepared, author=author, by=by, provenance=provenance, state=State.IN_REVIEW
        )
        record(version, "published", by=by, number=("", version.number))
        _add_statement(target, statement, by=by, wording=wording)
        if verified and twin is None and _four_eyes(author, by):
            require_reason(version, reason, field="reason")
            mark_verified(version, by=by, note=reason or "approved in review")
        request_runs(version, purpose=CaseRun.Purpose.EDITED, by=by)
        refresh([target.pk])
    return version


@transaction.atomic
def withdraw(version: Version, *, decision: int, by: User, reason: str) -> None:
    """Deprecate the version if this decision published it.

    The caller must check the permission of `by`. Raises NotAllowedNow if the version was used, or if another user
    verified it.
    """
    lock_entry(version.entry_id)
    version.refresh_from_db(fields=["state"])
    if version.provenance.get("decision") != decision or version.state == State.DEPRECATED:
        return
    verified_by_others = version.state == State.VERIFIED and version.verified_by_id != by.pk
    if verified_by_others or version.uses.exists():
        raise NotAllowedNow(
            _("Other users already rely on this version. Deprecate it in the catalogue instead.")
        )
    old = version.state
    version.move_to(State.DEPRECATED, by=by, note=reason)
    record(version, "withdrawn", by=by, state=(old, State.DEPRECATED))
    refresh([version.entry_id])


def _four_eyes(author: User | None, by: User) -> bool:
    return author is None or author.pk != by.pk or settings.SCRIPTSMITH_SELF_VERIFY


def _verified_twin(prepared: Prepared) -> Version | None:
    """Return a verified version with the same script. Prefer entries that are not suspended."""
    return (
        Version.objects.select_related("entry")
        .filter(sha256=prepared.sha256, state=State.VERIFIED)
        .order_by(F("entry__suspended_at").asc(nulls_first=True), "pk")
        .first()
    )


def _add_statement(entry: Entry, statement: str, *, by: User, wording: Confirmation) -> None:
    """Add the statement as a phrasing, or confirm the existing phrasing if `wording` is confirmed."""
    locked = lock_entry(entry.pk)
    source = Phrasing.Source.STATEMENT
    if add_phrasings(locked, [statement], source=source, confirmation=wording):
        record(locked, "phrasing added", by=by, phrasing=("", statement[:200]))
        refresh([locked.pk])
    elif wording.is_confirmed:
        confirm(locked, locked.phrasings.filter(text=statement).values_list("pk", flat=True), by=by)
