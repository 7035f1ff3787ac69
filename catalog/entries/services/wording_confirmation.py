"""Four-eyes approval of phrasings. Until a second user confirms a phrasing, it only suggests a starting point."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from catalog.access import CURATE, require
from catalog.entries.services.derived_data import refresh
from catalog.entries.services.locks import lock_standing
from catalog.models import Entry, Phrasing, Version
from core.audit import record
from core.errors import NotAllowedNow


@dataclass(frozen=True, kw_only=True)
class Confirmation:
    """The author of a phrasing and its confirmation. The author is None for a model, a file or the product."""

    added_by: User | None
    confirmed_by: User | None = None
    is_confirmed: bool = False

    def fields(self) -> Mapping[str, object]:
        """Return the values as fields of a Phrasing."""
        return {
            "added_by": self.added_by,
            "confirmed_by": self.confirmed_by,
            "confirmed_at": timezone.now() if self.is_confirmed else None,
            "self_confirmed": self.is_confirmed
            and self.confirmed_by is not None
            and self.confirmed_by == self.added_by,
        }


def confirmation_by(added_by: User | None, *, by: User | None) -> Confirmation:
    """Return a confirmation by `by`, or an empty confirmation if `by` is the author and may not confirm it."""
    if added_by is not None and by is not None and not _may(added_by.pk, by):
        return Confirmation(added_by=added_by)
    return Confirmation(added_by=added_by, confirmed_by=by, is_confirmed=True)


def may_confirm(phrasing: Phrasing, *, by: User) -> bool:
    """Return whether the four-eyes rule allows this user to confirm the phrasing. Roles are not checked."""
    return _may(phrasing.added_by_id, by)


@transaction.atomic
def confirm_phrasing(phrasing: Phrasing, *, by: User) -> None:
    """Confirm that the entry does what the phrasing says. Requests can then match the phrasing.

    Raises PermissionDenied for the phrasing's author, unless the setting for teams of one allows it. Raises
    NotAllowedNow if the phrasing was already confirmed or removed.
    """
    require(by, CURATE)
    if not may_confirm(phrasing, by=by):
        raise PermissionDenied(
            _("You added this phrasing, so another curator has to confirm it (four-eyes approval).")
        )
    entry = lock_standing(phrasing.entry_id)
    if not confirm(entry, [phrasing.pk], by=by):
        raise NotAllowedNow(_("This phrasing has already been confirmed or removed."))


def confirm(entry: Entry, keys: Collection[int], *, by: User) -> int:
    """Confirm the unconfirmed phrasings that the user may confirm. Return their number."""
    waiting = list(entry.phrasings.filter(pk__in=keys, confirmed_at=None).defer("document"))
    waiting = [phrasing for phrasing in waiting if may_confirm(phrasing, by=by)]
    for phrasing in waiting:
        phrasing.confirmed_by, phrasing.confirmed_at = by, timezone.now()
        phrasing.self_confirmed = phrasing.added_by_id == by.pk
        phrasing.save(update_fields=["confirmed_by", "confirmed_at", "self_confirmed"])
        record(entry, "phrasing confirmed", by=by, phrasing=("", phrasing.text[:200]))
    if waiting:
        refresh([entry.pk])
    return len(waiting)


def waiting_to_confirm(by: User) -> QuerySet[Phrasing]:
    """Return the unconfirmed phrasings of live entries that this user may confirm, oldest first."""
    answering = Entry.objects.standing().filter(versions__state=Version.State.VERIFIED)
    mine = Q() if settings.SCRIPTSMITH_SELF_VERIFY else ~Q(added_by=by)
    others = Q(added_by=None) | mine
    return (
        Phrasing.objects.filter(others, confirmed_at=None, entry__in=answering)
        .select_related("entry", "added_by")
        .defer("document", "entry__document")
        .order_by("pk")
    )


def _may(added_by_id: int | None, by: User) -> bool:
    return added_by_id != by.pk or settings.SCRIPTSMITH_SELF_VERIFY
