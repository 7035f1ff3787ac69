"""Forms for the list of entries: filters and bulk actions."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.contrib.auth.models import User
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from catalog.entries.action_forms import find_owner
from catalog.listing.services import list_entries
from catalog.listing.services.bulk import MOST_ENTRIES, BulkOrder, Deed
from catalog.listing.services.filters import ALL, IN_USE, MERGED, SUSPENDED, Filters
from catalog.listing.services.order import Sort
from catalog.models import Entry, SavedView, Version
from core.web.forms import PlainText, split_words

_ANY = [("", _("any"))]

AGE_CHOICES = [
    ("new7", _("written in the last 7 days")),
    ("new30", _("written in the last 30 days")),
    ("old90", _("verified over 90 days ago")),
    ("old180", _("verified over 180 days ago")),
    ("old365", _("verified over a year ago")),
    ("once", _("verified only once")),
]

USE_CHOICES = [
    ("never", _("never used")),
    ("lately", _("used in the last 30 days")),
    ("worse", _("made it worse")),
    ("unreviewed", _("used without review")),
    ("emergency", _("rolled back in an emergency")),
]


def _short() -> forms.TextInput:
    return forms.TextInput(attrs={"size": 10})


class FilterForm(forms.Form):
    """The filters in the list's URL."""

    q = forms.CharField(
        label=_("Task"), required=False, widget=forms.SearchInput(), max_length=1000
    )
    state = forms.ChoiceField(
        label=_("State"),
        required=False,
        choices=[
            *_ANY,
            (IN_USE, _("Active")),
            *Version.State.choices,
            (ALL, _("All")),
            (SUSPENDED, _("Suspended")),
            (MERGED, _("Merged into another entry")),
        ],
    )
    risk = forms.ChoiceField(
        label=_("Risk"), required=False, choices=[*_ANY, *Version.Risk.choices]
    )
    side_effect = forms.ChoiceField(
        label=_("Side effect"), required=False, choices=[*_ANY, *Version.SideEffect.choices]
    )
    tag = forms.CharField(label=_("Tag"), required=False, max_length=50, widget=_short())
    owner = forms.CharField(label=_("Owner"), required=False, max_length=150, widget=_short())
    age = forms.ChoiceField(label=_("Age"), required=False, choices=[*_ANY, *AGE_CHOICES])
    use = forms.ChoiceField(label=_("Use"), required=False, choices=[*_ANY, *USE_CHOICES])

    sort = forms.ChoiceField(label=_("Order"), required=False, choices=Sort.choices)

    def filters(self) -> Filters:
        """Return the active filters."""
        named = self.cleaned_data.keys() & Filters.__dataclass_fields__
        return Filters(**{name: self.cleaned_data[name] for name in named})


class SaveViewForm(forms.Form):
    """The name of a new saved view."""

    listing = forms.ChoiceField(choices=SavedView.Listing.choices)
    name = forms.CharField(label=_("Name"), max_length=40)


class BulkForm(forms.Form):
    """A bulk action on the selected entries."""

    deed = forms.ChoiceField(label=_("Action"), choices=Deed.choices)
    tags = forms.CharField(label=_("Tags"), required=False, help_text=_("Separated by commas."))
    owner = forms.CharField(label=_("Owner"), required=False, help_text=_("A username."))
    note = PlainText(label=_("Reason or note"), rows=2, required=False, max_length=2000)

    def clean_owner(self) -> User | None:
        return find_owner(self.cleaned_data["owner"])

    def order(self) -> BulkOrder:
        """Return the action in the service's format."""
        return BulkOrder(
            deed=Deed(self.cleaned_data["deed"]),
            tags=tuple(split_words(self.cleaned_data["tags"])),
            owner=self.cleaned_data["owner"],
            note=self.cleaned_data["note"],
        )

    def own_fields(self) -> list[forms.BoundField]:
        """Return the fields that the action needs."""
        deed = self["deed"].value()
        if deed in (Deed.ADD_TAGS, Deed.REMOVE_TAGS):
            return [self["tags"]]
        return [self["owner"]] if deed == Deed.SET_OWNER else [self["note"]]


def read_chosen(posted: QueryDict) -> list[Entry]:
    """Return the entries that match the filters in `fits`, or else the entries with the submitted keys."""
    entries = Entry.objects.defer("document").order_by("-pk")
    if fits := posted.get("fits", ""):
        form = FilterForm(QueryDict(fits))
        if form.is_valid() and not form.cleaned_data["q"]:
            return list(list_entries(form.filters(), among=entries)[: MOST_ENTRIES + 1])
    keys = [int(key) for key in posted.getlist("entries") if key.isdecimal() and len(key) < 19]
    return list(entries.filter(pk__in=keys[: MOST_ENTRIES + 1]))


def read_seen(posted: QueryDict, entries: Sequence[Entry]) -> dict[int, str]:
    """Return the `seen` value of each entry in the preview."""
    return {entry.pk: posted.get(f"seen-{entry.pk}", "") for entry in entries}
