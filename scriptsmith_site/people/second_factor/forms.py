"""Forms for second factors. The services enforce the rules."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _


class CodeForm(forms.Form):
    code = forms.CharField(
        label=_("Code"),
        max_length=40,
        help_text=_("The six digits from your authenticator app."),
        widget=forms.TextInput(
            attrs={
                "autocomplete": "one-time-code",
                "inputmode": "numeric",
                "spellcheck": "false",
                "autofocus": True,
            }
        ),
    )


class AnyCodeForm(CodeForm):
    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["code"].help_text = _(
            "The six digits from your authenticator app, or one of your recovery codes."
        )


class PasskeyForm(forms.Form):
    """A form for a passkey's name and the `credential` that the page's script received from the browser."""

    name = forms.CharField(
        label=_("Name"),
        max_length=60,
        required=False,
        help_text=_("A name to recognize it by, such as “laptop” or “security key”."),
    )
    credential = forms.CharField(widget=forms.HiddenInput, required=False)


class ConfirmForm(forms.Form):
    current_password = forms.CharField(
        label=_("Current password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password", "autofocus": True}),
    )
