"""The small forms on an entry's page, one for each curator action."""

from __future__ import annotations

from typing import Self

from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _

from catalog.models import Version
from core.actor import find_user
from core.web.forms import PlainText


class ReasonForm(forms.Form):
    """A required reason."""

    reason = PlainText(label=_("Reason"), rows=2, max_length=2000)


class NoteForm(forms.Form):
    """An optional note."""

    note = PlainText(label=_("Note"), rows=2, required=False, max_length=2000)


class VerifyForm(NoteForm):
    """A note (required for a high risk), and the unconfirmed phrasings that the page showed."""

    wordings = forms.CharField(required=False, widget=forms.HiddenInput, max_length=20_000)

    def about(self, version: Version) -> Self:
        """Adapt the form to this version and return it. The service also checks the reason."""
        waiting = [one for one in version.entry.phrasings.all() if one.waits]
        self.fields["wordings"].initial = ",".join(str(one.pk) for one in waiting)
        if version.takes_reason:
            note = self.fields["note"]
            note.required, note.label = True, _("Reason")
            note.help_text = _("This script is high risk. Why is it safe to verify?")
        return self

    def clean_wordings(self) -> list[int]:
        """Return the keys of the phrasings. Invalid keys are ignored."""
        parts = self.cleaned_data["wordings"].split(",")
        return [int(part) for part in parts if part.isdecimal() and len(part) < 19]


class RollbackForm(forms.Form):
    """The reason for a rollback, and its kind, which depends on the button pressed."""

    VERIFY, ASK, EMERGENCY = "verify", "ask", "emergency"

    reason = PlainText(label=_("Reason"), rows=3, max_length=2000)
    lift = forms.BooleanField(label=_("Also lift the suspension"), required=False)
    seen = forms.CharField(required=False, widget=forms.HiddenInput, max_length=16)
    way = forms.ChoiceField(
        choices=[(VERIFY, _("Roll back")), (ASK, _("Request")), (EMERGENCY, _("Emergency"))],
        error_messages={"required": _("Choose one of the buttons.")},
    )


class LiftForm(forms.Form):
    note = PlainText(label=_("Result of your check"), rows=2, max_length=2000)


class PhrasingForm(forms.Form):
    text = forms.CharField(label=_("Add a phrasing"), max_length=20_000)


class TitleForm(forms.Form):
    title = forms.CharField(label=_("Title"), max_length=300)
    seen = forms.CharField(required=False, widget=forms.HiddenInput, max_length=300)


class LabelsForm(forms.Form):
    """The details that can be edited without creating a new version."""

    seen = forms.CharField(required=False, widget=forms.HiddenInput, max_length=16)
    tags = forms.CharField(label=_("Tags"), required=False, help_text=_("Separated by commas."))
    owner = forms.CharField(label=_("Owner"), required=False, help_text=_("A username."))
    links = PlainText(
        label=_("Links"), required=False, help_text=_("One per line: kind | label | URL")
    )

    def clean_owner(self) -> User | None:
        return find_owner(self.cleaned_data["owner"])


def find_owner(name: str) -> User | None:
    """Return the active user with this name, or None if the name is empty. Raises ValidationError."""
    if not name:
        return None
    owner = find_user(name, User.objects.filter(is_active=True))
    if owner is None:
        raise forms.ValidationError(_("No active user has this username."))
    return owner
