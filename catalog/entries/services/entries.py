"""Services to create, rename and suspend entries, and to change their phrasings."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.access import CURATE, require
from catalog.entries.services.creation import add_phrasings, add_version, make_entry, prepare
from catalog.entries.services.derived_data import refresh
from catalog.entries.services.locks import lock_standing
from catalog.entries.services.wording_confirmation import Confirmation
from catalog.models import Entry, Phrasing, Version
from catalog.version_details import VersionDetails
from core.audit import record
from core.database.advisory_lock import lock_name
from core.errors import BadInput, NotAllowedNow, Stale
from core.texts import LONGEST_REASON, LONGEST_STATEMENT, LONGEST_TITLE, clean_text, name_of


def create_entry(
    title: str,
    *,
    script: str,
    by: User,
    phrasings: Sequence[str] = (),
    details: VersionDetails | None = None,
) -> Version:
    """Create an entry and its first version, a draft by `by`. Raises BadInput."""
    require(by, CURATE)
    title = clean_text(title, field="title", longest=LONGEST_TITLE)
    wordings = [_clean_phrasing(text) for text in phrasings]
    prepared = prepare(script, details)
    with transaction.atomic():
        lock_name(f"script {prepared.sha256}")
        twin = Entry.objects.filter(
            versions__sha256=prepared.sha256, versions__state=Version.State.VERIFIED
        ).first()
        if twin is not None:
            raise BadInput(
                _('"%(title)s" already has this script. Add a phrasing to that entry instead.')
                % {"title": twin.title},
                field="script",
            )
        wording = Confirmation(added_by=by)
        entry = make_entry(title, by=by, confirmation=wording)
        version = add_version(
            entry, prepared, author=by, owner=by, by=by, provenance={"origin": "written"}
        )
        add_phrasings(entry, wordings, source=Phrasing.Source.CURATOR, confirmation=wording)
        record(entry, "entry created", by=by, title=("", title))
        refresh([entry.pk])
    return version


@transaction.atomic
def rename(entry: Entry, *, title: str, by: User, seen: str = "") -> None:
    """Change the entry's title. The title becomes an unconfirmed phrasing, and the URL stays the same.

    Raises Stale if the title has changed since the user saw it.
    """
    require(by, CURATE)
    title = clean_text(title, field="title", longest=LONGEST_TITLE)
    locked = lock_standing(entry.pk)
    if locked.title == title:
        return
    if seen and seen != locked.title:
        raise Stale(
            _('Another user has renamed this entry to "%(title)s".') % {"title": locked.title},
            newest=0,
        )
    locked.phrasings.filter(source=Phrasing.Source.TITLE).delete()
    if not locked.phrasings.filter(text=title).update(source=Phrasing.Source.TITLE):
        Phrasing.objects.create(
            entry=locked,
            text=title,
            source=Phrasing.Source.TITLE,
            **Confirmation(added_by=by).fields(),
        )
    record(locked, "entry renamed", by=by, title=(locked.title, title))
    Entry.objects.filter(pk=locked.pk).update(title=title)
    entry.title = title
    refresh([locked.pk])


@transaction.atomic
def add_phrasing(entry: Entry, *, text: str, by: User) -> Phrasing:
    """Add a phrasing, which another user must confirm.

    Raises BadInput if the entry already has the phrasing.
    """
    require(by, CURATE)
    text = _clean_phrasing(text)
    locked = lock_standing(entry.pk)
    wording = Confirmation(added_by=by)
    if not add_phrasings(locked, [text], source=Phrasing.Source.CURATOR, confirmation=wording):
        raise BadInput(_("The entry already has this phrasing."), field="text")
    record(locked, "phrasing added", by=by, phrasing=("", text[:200]))
    refresh([locked.pk])
    return locked.phrasings.get(text=text)


@transaction.atomic
def remove_phrasing(phrasing: Phrasing, *, by: User) -> None:
    """Remove a phrasing. Raises NotAllowedNow for the title, which can only be renamed."""
    require(by, CURATE)
    locked = lock_standing(phrasing.entry_id)
    removed, _each = (
        locked.phrasings.filter(pk=phrasing.pk).exclude(source=Phrasing.Source.TITLE).delete()
    )
    if not removed:
        raise NotAllowedNow(_("This phrasing is the entry's title or was already removed."))
    record(locked, "phrasing removed", by=by, phrasing=(phrasing.text[:200], ""))
    refresh([locked.pk])


@transaction.atomic
def suspend(entry: Entry, *, by: User, reason: str) -> None:
    """Suspend the entry. The entry is not used until a curator lifts the suspension."""
    require(by, CURATE)
    reason = clean_text(reason, field="reason", longest=LONGEST_REASON)
    locked = lock_standing(entry.pk)
    if locked.suspended_at is not None:
        raise NotAllowedNow(
            _("%(who)s has already suspended this entry: %(why)s")
            % {"who": name_of(locked.suspended_by), "why": locked.suspended_why}
        )
    set_suspended(locked, by=by, reason=reason)


@transaction.atomic
def lift_suspension(entry: Entry, *, by: User, note: str) -> None:
    """Lift the suspension. The note describes the result of the investigation."""
    require(by, CURATE)
    note = clean_text(note, field="note", longest=LONGEST_REASON)
    locked = lock_standing(entry.pk)
    if locked.suspended_at is None:
        raise NotAllowedNow(_("This entry is not suspended."))
    record(locked, "suspension lifted", by=by, suspended=(locked.suspended_why[:200], note[:200]))
    locked.suspended_at = None
    locked.suspended_by = None
    locked.suspended_why = ""
    locked.save(update_fields=["suspended_at", "suspended_by", "suspended_why"])
    refresh([locked.pk])


def set_suspended(locked: Entry, *, by: User, reason: str) -> None:
    """Suspend a locked entry. The caller must have checked the permission of `by`."""
    locked.suspended_at = timezone.now()
    locked.suspended_by = by
    locked.suspended_why = reason
    locked.save(update_fields=["suspended_at", "suspended_by", "suspended_why"])
    record(locked, "entry suspended", by=by, suspended=("", reason[:200]))
    refresh([locked.pk])


def _clean_phrasing(text: str) -> str:
    return clean_text(text, field="phrasings", longest=LONGEST_STATEMENT)


def merged_into(entry: Entry) -> Entry:
    """Return the entry into which this entry was merged, or the entry itself."""
    standing = Entry.objects.get(pk=entry.pk)
    while standing.merged_into is not None:
        standing = standing.merged_into
    return standing
