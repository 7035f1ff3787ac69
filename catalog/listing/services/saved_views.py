"""Saved views of this list and of other apps' lists. Only its owner can see a view."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from catalog.models import SavedView
from core.database.advisory_lock import lock_name
from core.errors import BadInput
from core.texts import clean_text

MOST_VIEWS = 20  # per list
LONGEST_NAME = 40
LONGEST_QUERY = SavedView._meta.get_field("query").max_length or 0


def views_of(user: User, listing: SavedView.Listing) -> QuerySet[SavedView]:
    """Return the user's own views of a list, sorted by name."""
    return SavedView.objects.filter(user=user, listing=listing)


@transaction.atomic
def save_view(name: str, *, listing: SavedView.Listing, query: str, by: User) -> SavedView:
    """Save a view, or replace the view with the same name. Raises BadInput."""
    name = " ".join(clean_text(name, field="name", longest=LONGEST_NAME).split())
    if not query:
        raise BadInput(_("Filter or sort the list first, then save the view."), field="name")
    if len(query) > LONGEST_QUERY:
        raise BadInput(_("This search is too long to save as a view. Use fewer words."))
    lock_name(f"views of {by.pk}")
    known = views_of(by, listing)
    if not known.filter(name=name).exists() and known.count() >= MOST_VIEWS:
        raise BadInput(
            _("You already have %(most)s views. Remove one first.") % {"most": MOST_VIEWS},
            field="name",
        )
    view, _is_new = SavedView.objects.update_or_create(
        user=by, listing=listing, name=name, defaults={"query": query}
    )
    return view


def forget_views(user: User) -> None:
    """Delete all views of an anonymized user, for all lists."""
    SavedView.objects.filter(user=user).delete()


def remove_view(view: SavedView) -> None:
    """Delete a view."""
    view.delete()
