"""Forms of the pages for curators: merging, and one thing done with many entries."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.contrib.auth.models import User
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from catalog.entries.action_forms import find_owner
from catalog.entries.forms import FilterForm, PlainText, split_words
from catalog.listing.services.bulk import MOST_ENTRIES, Deed, Order
from catalog.models import Entry
from catalog.services import list_entries


class MergeForm(forms.Form):
    """What another entry is taken into."""

    into = forms.CharField(
        label=_("Into the entry"),
        max_length=300,
        help_text=_("Its address, as in /catalogue/ADDRESS/, or its exact title."),
    )

    def clean_into(self) -> Entry:
        typed = self.cleaned_data["into"].strip().rstrip("/").rpartition("/")[2]
        entries = Entry.objects.standing().defer("document")
        found = entries.filter(slug=typed).first() or entries.filter(title=typed).first()
        if found is None:
            raise forms.ValidationError(_("There is no such entry."))
        return found


class MergeNoteForm(forms.Form):
    """The merge itself, in view of the plan `seen`."""

    note = PlainText(label=_("Note"), rows=2, required=False, max_length=2000)
    seen = forms.CharField(widget=forms.HiddenInput, max_length=16)


class BulkForm(forms.Form):
    """What is to be done with the chosen entries; `fits` stands for all that a list shows."""

    deed = forms.ChoiceField(label=_("What to do"), choices=Deed.choices)
    tags = forms.CharField(label=_("Tags"), required=False, help_text=_("With commas."))
    owner = forms.CharField(label=_("Owner"), required=False, help_text=_("Name of an account."))
    note = PlainText(label=_("Reason or note"), rows=2, required=False, max_length=2000)

    def clean_owner(self) -> User | None:
        return find_owner(self.cleaned_data["owner"])

    def order(self) -> Order:
        """What was typed, as the service takes it."""
        return Order(
            deed=Deed(self.cleaned_data["deed"]),
            tags=tuple(split_words(self.cleaned_data["tags"])),
            owner=self.cleaned_data["owner"],
            note=self.cleaned_data["note"],
        )

    def own_fields(self) -> list[forms.BoundField]:
        """The fields that the deed needs."""
        deed = self["deed"].value()
        if deed in (Deed.ADD_TAGS, Deed.REMOVE_TAGS):
            return [self["tags"]]
        return [self["owner"]] if deed == Deed.SET_OWNER else [self["note"]]


def read_chosen(posted: QueryDict) -> list[Entry]:
    """The chosen entries, by their keys or by the filters of the list they were chosen from."""
    entries = Entry.objects.defer("document").order_by("-pk")
    if fits := posted.get("fits", ""):
        form = FilterForm(QueryDict(fits))
        if form.is_valid() and not form.cleaned_data["q"]:
            return list(list_entries(form.filters(), among=entries)[: MOST_ENTRIES + 1])
    keys = [int(key) for key in posted.getlist("entries") if key.isdecimal() and len(key) < 19]
    return list(entries.filter(pk__in=keys[: MOST_ENTRIES + 1]))


def read_seen(posted: QueryDict, entries: Sequence[Entry]) -> dict[int, str]:
    """What the preview said of each entry."""
    return {entry.pk: posted.get(f"seen-{entry.pk}", "") for entry in entries}
