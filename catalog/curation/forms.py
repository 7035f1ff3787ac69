"""Forms for merging entries."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from catalog.models import Entry
from core.web.forms import PlainText


class MergeForm(forms.Form):
    """The entry to merge into."""

    into = forms.CharField(label=_("Target entry"), max_length=300)

    def clean_into(self) -> Entry:
        typed = self.cleaned_data["into"].strip().rstrip("/").rpartition("/")[2]
        entries = Entry.objects.standing().defer("document")
        found = entries.filter(slug=typed).first() or entries.filter(title=typed).first()
        if found is None:
            raise forms.ValidationError(_("This entry does not exist."))
        return found


class MergeNoteForm(forms.Form):
    """The user's confirmation of a merge. `seen` identifies the plan that the user saw."""

    note = PlainText(label=_("Note"), rows=2, required=False, max_length=2000)
    seen = forms.CharField(widget=forms.HiddenInput, max_length=16)
