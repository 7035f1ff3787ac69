"""Forms of the pipeline's pages: what is typed becomes what the services take; they judge it."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.utils.translation import gettext_lazy as _

from catalog.types import BadInput
from pipeline.models import Action, Configuration


class PlainText(forms.CharField):
    """Many lines as they were typed, with the line ends of Unix: browsers send those of Windows."""

    def __init__(self, *, label: str, rows: int, help_text: str = "", required: bool = False) -> None:
        widget = forms.Textarea(attrs={"rows": rows})
        super().__init__(
            label=label, help_text=help_text, required=required, strip=False, widget=widget
        )

    def to_python(self, value: str | None) -> str:
        return super().to_python(value).replace("\r\n", "\n")


class ConfigurationField(forms.ChoiceField):
    """A Configuration by its name; the form says which can be chosen."""

    def offer(self, configurations: Sequence[Configuration]) -> None:
        """Let people choose among these; the default one unless something else is said."""
        self.choices = [(one.name, one.title) for one in configurations]
        self.initial = next((one.name for one in configurations if one.is_default), None)


class AskForm(forms.Form):
    """A statement and, where it is known, what surrounds it."""

    statement = PlainText(label=_("What is to be done?"), rows=4, required=True)
    incident = PlainText(
        label=_("Incident"), rows=3, help_text=_("The alert, or what somebody reported.")
    )
    environment = PlainText(
        label=_("Environment notes"),
        rows=3,
        help_text=_("Systems, versions, names that the script may need."),
    )
    target = forms.CharField(
        label=_("Where it would run"), required=False, help_text=_("A host, a group, a cluster.")
    )
    impact = forms.CharField(label=_("What breaks if it is wrong"), required=False)
    severity = forms.TypedChoiceField(
        label=_("Severity"),
        choices=Action.Severity.choices,
        initial=Action.Severity.MEDIUM.value,
        coerce=int,
        help_text=_("Graver ones are reviewed first."),
    )
    reference = PlainText(
        label=_("Reference script"),
        rows=3,
        help_text=_("One that is known to be right. The model does not see it; reviewers do."),
    )
    configuration = ConfigurationField(
        label=_("Configuration"), help_text=_("Who writes, who assesses, who refines.")
    )

    def __init__(
        self,
        data: object = None,
        *,
        configurations: Sequence[Configuration],
        initial: dict[str, str] | None = None,
    ) -> None:
        super().__init__(data, initial=initial)  # type: ignore[arg-type]
        self.fields["statement"].widget.attrs |= {"autofocus": True, "class": "statement"}
        self.fields["reference"].widget.attrs |= {"class": "mono", "spellcheck": "false"}
        choice = self.fields["configuration"]
        assert isinstance(choice, ConfigurationField)
        choice.offer(configurations)


class RunForm(forms.Form):
    """Another run of an Action."""

    configuration = ConfigurationField(label=_("Configuration"))
    retrieval = forms.BooleanField(
        label=_("Search the catalogue first"), required=False, initial=True
    )

    def __init__(self, data: object = None, *, configurations: Sequence[Configuration]) -> None:
        super().__init__(data)  # type: ignore[arg-type]
        choice = self.fields["configuration"]
        assert isinstance(choice, ConfigurationField)
        choice.offer(configurations)


class UseForm(forms.Form):
    """Why a script is used that nobody has reviewed."""

    reason = PlainText(
        label=_("Reason"), rows=2, required=True, help_text=_("Why can't it wait for a review?")
    )


def add_refusal(form: forms.Form, refusal: BadInput) -> None:
    """Show what a service refused beside the field that it is about."""
    form.add_error(refusal.field if refusal.field in form.fields else None, str(refusal))
