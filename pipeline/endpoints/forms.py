"""Forms for the endpoint pages. They only convert the input, which the services validate."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from decimal import Decimal

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise

from core.errors import BadInput
from pipeline.endpoints.address_rules import looks_like_key, read_key_variable
from pipeline.endpoints.prices import PriceValues
from pipeline.endpoints.services import EndpointValues, edition_of, values_of
from pipeline.models import Endpoint
from pipeline.types import Mode

_MICRO = 1_000_000  # micro-dollars per dollar
_MODES = [
    (Mode.SCHEMA.value, _("Schema: replies must match a JSON schema")),
    (Mode.TOOL.value, _("Tool: replies are passed as input to a forced tool call")),
    (Mode.TEXT.value, _("Text: the prompt describes the reply format")),
]


class EndpointForm(forms.Form):
    """The editable values of an endpoint. The demo model's address and key are fixed."""

    title = forms.CharField(label=_("Title"), help_text=_("Shown to users."))
    base_url = forms.CharField(
        label=_("Base URL"),
        help_text=_(
            "Leave out /v1. Plain http:// is allowed only for this machine and private networks."
        ),
        widget=forms.TextInput(attrs={"class": "mono", "spellcheck": "false", "inputmode": "url"}),
    )
    key_variable = forms.CharField(
        label=_("Environment variable for the key"),
        required=False,
        help_text=_(
            "Enter the variable's name, never the key itself. The web server and the worker read the key from their "
            "environment. Leave empty if the server needs no key."
        ),
        widget=forms.TextInput(
            attrs={"class": "mono", "spellcheck": "false", "autocomplete": "off"}
        ),
    )
    mode = forms.ChoiceField(
        label=_("Mode"), choices=_MODES, help_text=_("Run the check to find out which mode works.")
    )
    max_in_flight = forms.IntegerField(
        label=_("Concurrent calls"), help_text=_("Maximum across all workers.")
    )
    timeout_seconds = forms.IntegerField(
        label=_("Call timeout (seconds)"),
        help_text=_("Local models can take several minutes to load."),
    )
    takes_temperature = forms.BooleanField(
        label=_("Accepts temperature"),
        required=False,
        help_text=_("Claude models don't accept a temperature."),
    )
    has_batches = forms.BooleanField(
        label=_("Supports Message Batches"),
        required=False,
        help_text=_("Run the check to find out. Studies can then use batches at half the price."),
    )
    treat_as_remote = forms.BooleanField(
        label=_("Treat as remote"),
        required=False,
        help_text=_(
            "Select this if the address is on this machine but forwards text, such as a tunnel or proxy. As for other "
            "remote endpoints, secrets are masked unless the requester chooses to send them."
        ),
    )
    edition = forms.IntegerField(widget=forms.HiddenInput(), required=False)

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        initial: dict[str, object] | None = None,
        is_built_in: bool = False,
    ) -> None:
        super().__init__(data.copy() if data is not None else None, initial=initial)
        if is_built_in:
            del self.fields["base_url"], self.fields["key_variable"]

    @classmethod
    def of(cls, endpoint: Endpoint) -> EndpointForm:
        """Return the form for an existing endpoint, with its values and their edition."""
        initial = {**asdict(values_of(endpoint)), "edition": edition_of(endpoint)}
        return cls(initial=initial, is_built_in=endpoint.is_built_in)

    def clean_key_variable(self) -> str:
        typed: str = self.cleaned_data["key_variable"]
        try:
            return read_key_variable(typed)
        except BadInput as refusal:
            if looks_like_key(typed):
                # Do not echo the input, because a pasted key must not appear on any page.
                assert isinstance(self.data, QueryDict)
                self.data["key_variable"] = ""
            raise forms.ValidationError(str(refusal)) from None

    def values(self) -> EndpointValues:
        """Return the values for the services, which add the fixed values of a built-in endpoint."""
        data = self.cleaned_data
        return EndpointValues(
            title=data["title"],
            base_url=data.get("base_url", ""),
            key_variable=data.get("key_variable", ""),
            mode=data["mode"],
            takes_temperature=data["takes_temperature"],
            has_batches=data["has_batches"],
            treat_as_remote=data["treat_as_remote"],
            max_in_flight=data["max_in_flight"],
            timeout_seconds=data["timeout_seconds"],
        )

    def show_now(self, endpoint: Endpoint) -> list[tuple[str, object, object]]:
        """List conflicts with another user's change, each as label, stored value and typed value.

        Saving again overwrites the other user's change, because the conflict has been shown.
        """
        assert isinstance(self.data, QueryDict)
        self.data["edition"] = str(edition_of(endpoint))
        typed, now = asdict(self.values()), asdict(values_of(endpoint))
        return [
            (str(self.fields[name].label), now[name], typed[name])
            for name in now
            if name in self.fields and now[name] != typed[name]
        ]


class NewEndpointForm(EndpointForm):
    """The form for a new endpoint, which also needs a name."""

    name = forms.CharField(
        label=_("Name"),
        help_text=_(
            "Lowercase letters, digits and hyphens. Runs and settings refer to this name, so it can't "
            "be changed later."
        ),
        widget=forms.TextInput(
            attrs={"class": "mono", "spellcheck": "false", "autocapitalize": "off"}
        ),
    )
    field_order = ("name",)


class SwitchOnForm(forms.Form):
    """Consent to send texts to another machine."""

    confirmed = forms.BooleanField(label=_("Yes, I understand"), required=False)


class CheckForm(forms.Form):
    """The model to check."""

    model = forms.CharField(
        label=_("Model"),
        required=False,
        help_text=_(
            "Default: a model that a configuration uses, or the first model on the server's list."
        ),
        widget=forms.TextInput(
            attrs={"class": "mono", "spellcheck": "false", "list": "known-models"}
        ),
    )


def _dollars(label: StrOrPromise, *, required: bool = True) -> forms.DecimalField:
    return forms.DecimalField(
        label=label, required=required, min_value=0, max_value=10_000, decimal_places=6
    )


class PriceForm(forms.Form):
    """A price in USD per million tokens."""

    model = forms.CharField(
        label=_("Model"),
        widget=forms.TextInput(
            attrs={"class": "mono", "spellcheck": "false", "list": "known-models"}
        ),
    )
    since = forms.DateField(
        label=_("From (UTC)"),
        initial=lambda: datetime.now(UTC).date(),
        widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d"),
    )
    input = _dollars(_("Input"))
    output = _dollars(_("Output"))
    cache_read = _dollars(_("Cache read"), required=False)
    cache_write = _dollars(_("Cache write"), required=False)
    source = forms.CharField(
        label=_("Source"), required=False, help_text=_("Where you found the price.")
    )

    def values(self) -> PriceValues:
        """Return the typed values in micro-dollars."""
        data = self.cleaned_data
        amounts = {
            name: int((data[name] or Decimal(0)) * _MICRO)
            for name in ("input", "output", "cache_read", "cache_write")
        }
        return PriceValues(
            model=data["model"], since=data["since"], source=data["source"], **amounts
        )
