"""Forms for slash commands. The services enforce the rules."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from pipeline.services import MAX_STATEMENT
from scriptsmith_site.models import ChatCommand

_SECRET_HELP = {
    ChatCommand.Kind.SLACK: _("The signing secret of your Slack app, under Basic Information."),
    ChatCommand.Kind.MATTERMOST: _("The token that Mattermost shows for the command."),
}


class CommandForm(forms.Form):
    """A form for a slash command of one kind."""

    name = forms.CharField(label=_("Name"), max_length=80)
    secret = forms.CharField(
        label=_("Secret"),
        max_length=200,
        required=False,
        widget=forms.PasswordInput(attrs={"class": "mono", "autocomplete": "off"}),
    )
    team = forms.CharField(
        label=_("Workspace"),
        max_length=40,
        required=False,
        widget=forms.TextInput(attrs={"class": "mono", "spellcheck": "false"}),
        help_text=_(
            "The workspace ID, such as T0123ABCD. Leave empty for all workspaces that use this secret."
        ),
    )
    requests_per_minute = forms.IntegerField(
        label=_("Maximum requests per minute"), min_value=1, max_value=6_000, initial=60
    )
    edition = forms.IntegerField(widget=forms.HiddenInput, required=False)

    def __init__(self, *args: Any, kind: str, is_new: bool, **options: Any) -> None:
        super().__init__(*args, **options)
        says = _SECRET_HELP[ChatCommand.Kind(kind)]
        more = _("Stored encrypted and not shown again.")
        if not is_new:
            more = _("Leave empty to keep the current secret.")
        self.fields["secret"].help_text = f"{says} {more}"

    def details(self) -> dict[str, object]:
        """Return the values in the form that the service expects."""
        names = ("name", "team", "requests_per_minute")
        return {name: self.cleaned_data[name] for name in names}


class TestForm(forms.Form):
    """A form for the text that a user would type after the command."""

    statement = forms.CharField(
        label=_("Sample request"), max_length=MAX_STATEMENT, initial="restart nginx"
    )
