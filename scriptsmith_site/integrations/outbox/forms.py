"""Forms for destinations. The services enforce the rules."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from scriptsmith_site.integrations.outbox.events.event_types import PUBLIC
from scriptsmith_site.integrations.outbox.services import LONGEST_NAME, Values
from scriptsmith_site.integrations.outbox.transport.channel_kinds import CHANNELS
from scriptsmith_site.integrations.outbox.transport.sealing import VARIABLE_PREFIX
from scriptsmith_site.models import Destination


class DestinationForm(forms.Form):
    """A form for a destination, with only the fields that its kind needs."""

    name = forms.CharField(label=_("Name"), max_length=LONGEST_NAME)
    address = forms.CharField(
        label=_("Address"),
        max_length=500,
        widget=forms.TextInput(attrs={"class": "mono", "spellcheck": "false"}),
        help_text=_("Must start with https://. Redirects are not followed."),
    )
    secret = forms.CharField(
        label=_("Secret"),
        max_length=300,
        required=False,
        strip=True,
        widget=forms.PasswordInput(attrs={"class": "mono", "autocomplete": "off"}),
    )
    types = forms.MultipleChoiceField(
        label=_("Events"),
        choices=[(one.name, one.label) for one in PUBLIC],
        widget=forms.CheckboxSelectMultiple,
    )
    includes_texts = forms.BooleanField(
        label=_("Include titles, request texts and names"),
        required=False,
        help_text=_("Otherwise, only IDs and links are sent. Scripts are never sent."),
    )
    secret_variable = forms.CharField(
        label=_("Environment variable"),
        max_length=100,
        required=False,
        widget=forms.TextInput(attrs={"class": "mono", "spellcheck": "false"}),
    )
    edition = forms.IntegerField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, kind: str, is_new: bool, **options: Any) -> None:
        super().__init__(*args, **options)
        variable = self.fields["secret_variable"]
        if kind == Destination.Kind.WEBHOOK:
            del self.fields["secret"]
            variable.help_text = _(
                "Leave empty to create a secret, which is stored encrypted. Alternatively, enter the "
                "name of a variable in the worker's environment that starts with %s and contains whsec_…"
            ) % (VARIABLE_PREFIX,)
            return
        address, secret = self.fields["address"], self.fields["secret"]
        address.label = _("Host")
        looks = CHANNELS[Destination.Kind(kind)].looks_like
        secret.help_text = (
            _("The secret looks like %s. It is stored encrypted and never shown.") % looks
        )
        if not is_new:
            secret.help_text = _("Leave empty to keep the current secret.")
        variable.help_text = (
            _(
                "Instead of a secret, you can enter the name of a variable in the worker's environment "
                "that starts with %s."
            )
            % VARIABLE_PREFIX
        )
        if kind == Destination.Kind.SLACK:
            del self.fields["address"]
        else:
            address.help_text = _(
                "For example, chat.example.org. The host must be listed in SCRIPTSMITH_CHAT_HOSTS."
            )

    @classmethod
    def of(cls, destination: Destination) -> DestinationForm:
        """Return the form with the current values of the destination."""
        names = ("name", "address", "types", "includes_texts", "secret_variable", "edition")
        initial = {name: getattr(destination, name) for name in names}
        return cls(initial=initial, kind=destination.kind, is_new=False)

    def values(self) -> Values:
        """Return the submitted values."""
        return Values(
            name=self.cleaned_data["name"],
            address=self.cleaned_data.get("address", ""),
            types=self.cleaned_data["types"],
            includes_texts=self.cleaned_data["includes_texts"],
            secret_variable=self.cleaned_data["secret_variable"],
        )


class PauseForm(forms.Form):
    why = forms.CharField(label=_("Reason"), max_length=300, required=False)


class SpanForm(forms.Form):
    """A form for a time span in the user's time zone."""

    since = forms.DateTimeField(
        label=_("From"), widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )
    until = forms.DateTimeField(
        label=_("To"), widget=forms.DateTimeInput(attrs={"type": "datetime-local"})
    )
