"""Forms for the mirror. The services enforce the rules."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from core.web.forms import PlainText
from scriptsmith_site.integrations.mirror.services import MOST_SECRET, Values
from scriptsmith_site.integrations.outbox.transport.sealing import VARIABLE_PREFIX
from scriptsmith_site.models import Mirror

_CODE = {"class": "mono", "spellcheck": "false", "autocomplete": "off"}


class MirrorForm(forms.Form):
    """A form for the mirror's address and credentials."""

    address = forms.CharField(
        label=_("Repository"),
        max_length=500,
        widget=forms.TextInput(attrs=_CODE),
        help_text=_(
            "https://git.example.org/team/catalogue.git, ssh://git@git.example.org/team/catalogue.git, or a folder "
            "inside SCRIPTSMITH_MIRROR_FOLDER on the worker's machine."
        ),
    )
    branch = forms.CharField(
        label=_("Branch"),
        max_length=100,
        initial="main",
        widget=forms.TextInput(attrs=_CODE),
        help_text=_(
            "Use a branch that no one else commits to. ScriptSmith creates the branch if it does not exist."
        ),
    )
    user_name = forms.CharField(
        label=_("Username"),
        max_length=100,
        required=False,
        widget=forms.TextInput(attrs=_CODE),
        help_text=_(
            "For HTTPS. Most servers accept any name with a token, but some require a specific name."
        ),
    )
    secret = PlainText(
        label=_("Token, password or private key"),
        max_length=MOST_SECRET,
        required=False,
        widget=forms.Textarea(attrs={**_CODE, "rows": 2}),
        help_text=_("Stored encrypted and never shown. An SSH key must have no passphrase."),
    )
    secret_variable = forms.CharField(
        label=_("Environment variable"),
        max_length=100,
        required=False,
        widget=forms.TextInput(attrs=_CODE),
    )
    host_key = forms.CharField(
        label=_("Host key of the server"),
        max_length=2_500,
        required=False,
        widget=forms.TextInput(attrs=_CODE),
        help_text=_(
            "For SSH: the output of ssh-keyscan after the host name, such as ssh-ed25519 AAAA…"
        ),
    )
    edition = forms.IntegerField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: object, is_new: bool, **options: object) -> None:
        super().__init__(*args, **options)  # type: ignore[arg-type]
        self.fields["secret_variable"].help_text = (
            _(
                "Instead of a secret, you can enter the name of a variable in the worker's environment "
                "that starts with %s."
            )
            % VARIABLE_PREFIX
        )
        if not is_new:
            self.fields["secret"].help_text = _(
                "Leave empty to keep the current secret. Enter the secret again if the address changes."
            )

    @classmethod
    def of(cls, mirror: Mirror) -> MirrorForm:
        """Return the form with the current values of the mirror."""
        names = ("address", "branch", "user_name", "secret_variable", "host_key", "edition")
        return cls(initial={name: getattr(mirror, name) for name in names}, is_new=False)

    def values(self) -> Values:
        """Return the submitted values."""
        given = {name: value for name, value in self.cleaned_data.items() if name != "edition"}
        return Values(**given)


class PauseForm(forms.Form):
    why = forms.CharField(label=_("Reason"), max_length=300, required=False)


class GoOnForm(forms.Form):
    """A form with the branch head that the administrator saw."""

    found = forms.CharField(widget=forms.HiddenInput, max_length=40, required=False)


class BranchForm(forms.Form):
    branch = forms.CharField(
        label=_("Branch"),
        max_length=100,
        widget=forms.TextInput(attrs=_CODE),
        help_text=_("A branch of the same repository, based on the mirror's branch."),
    )
