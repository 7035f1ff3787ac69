"""What every service of the catalogue does: ask for permission, lock, keep what is derived."""

from __future__ import annotations

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils.translation import gettext as _

from catalog import tasks
from catalog.embedding import EmbedderUnavailable
from catalog.models import Entry, Merge
from catalog.retrieval import text_search, vector_store
from core.errors import NotAllowedNow
from core.texts import name_of

CURATE = "catalog.curate"
AT_ONCE = 16  # phrasings whose vectors are made before the answer: about 10 ms each


def require(by: User, *permissions: str) -> None:
    """Raise PermissionDenied for who has none of these permissions."""
    if not any(by.has_perm(permission) for permission in permissions):
        raise PermissionDenied(_("You don't have the right to do this."))


def lock_entry(pk: int) -> Entry:
    """The entry, so that changes of one entry and of its versions happen one after the other."""
    return Entry.objects.select_for_update(no_key=True).get(pk=pk)


def lock_standing(pk: int) -> Entry:
    """The same, for those who change it: NotAllowedNow where it was merged into another meanwhile."""
    entry = lock_entry(pk)
    if entry.merged_into_id is not None:
        merge = Merge.objects.select_related("by", "target").get(source=entry, undone_at=None)
        raise NotAllowedNow(
            _('%(who)s merged this entry into "%(title)s"; go on there.')
            % {"who": name_of(merge.by), "title": merge.target.title}
        )
    return entry


def refresh(entry_ids: Sequence[int]) -> None:
    """Bring up to date what is derived from the entries; in the transaction that changed them."""
    Entry.objects.filter(pk__in=entry_ids).exclude(compared_at=None).update(compared_at=None)
    text_search.refresh_documents(entry_ids)
    vector_store.refresh_searchable(entry_ids)
    # Robust: an embedder or a broker that is down must not fail what is already committed.
    transaction.on_commit(_make_vectors, robust=True)


def _make_vectors() -> None:
    """At once for what a person has just changed, so that the next statement finds it; an import's are
    made in the background."""
    try:
        more = vector_store.embed_missing(limit=AT_ONCE) >= AT_ONCE
    except EmbedderUnavailable:
        more = True
    if more:
        tasks.embed_missing.delay()
