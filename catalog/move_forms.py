"""The small forms on the page of an entry, one for each thing that a curator does there."""

from __future__ import annotations

from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _

from catalog.forms import PlainText


class ReasonForm(forms.Form):
    """Why, where it has to be said."""

    reason = PlainText(label=_("Reason"), rows=2, max_length=2000)


class NoteForm(forms.Form):
    """A note, where one may be left."""

    note = PlainText(label=_("Note"), rows=2, required=False, max_length=2000)


class LiftForm(forms.Form):
    note = PlainText(label=_("What was found"), rows=2, max_length=2000)


class PhrasingForm(forms.Form):
    text = forms.CharField(label=_("Another wording"), max_length=20_000)


class TitleForm(forms.Form):
    title = forms.CharField(label=_("What it does"), max_length=300)
    seen = forms.CharField(required=False, widget=forms.HiddenInput, max_length=300)


class LabelsForm(forms.Form):
    """What may change without a new version."""

    seen = forms.CharField(required=False, widget=forms.HiddenInput, max_length=16)
    tags = forms.CharField(label=_("Tags"), required=False, help_text=_("With commas."))
    owner = forms.CharField(label=_("Owner"), required=False, help_text=_("Name of an account."))
    links = PlainText(
        label=_("Links"), required=False, help_text=_("One in each line: kind | label | address")
    )

    def clean_owner(self) -> User | None:
        return find_owner(self.cleaned_data["owner"])


def find_owner(name: str) -> User | None:
    """The active account of that name; None for no name. Raises ValidationError."""
    if not name:
        return None
    owner = User.objects.filter(username=name, is_active=True).first()
    if owner is None:
        raise forms.ValidationError(_("There is no active account of that name."))
    return owner
