"""Locks on entries, held until the end of the transaction."""

from __future__ import annotations

from django.utils.translation import gettext as _

from catalog.models import Entry, Merge
from core.errors import NotAllowedNow
from core.texts import name_of


def lock_entry(pk: int) -> Entry:
    """Lock the entry, to serialize changes to it and its versions."""
    return Entry.objects.select_for_update(no_key=True).get(pk=pk)


def lock_standing(pk: int) -> Entry:
    """Lock the entry for a change. Raises NotAllowedNow if it has been merged into another entry."""
    entry = lock_entry(pk)
    if entry.merged_into_id is not None:
        merge = Merge.objects.select_related("by", "target").get(source=entry, undone_at=None)
        raise NotAllowedNow(
            _('%(who)s merged this entry into "%(title)s". Continue there.')
            % {"who": name_of(merge.by), "title": merge.target.title}
        )
    return entry
