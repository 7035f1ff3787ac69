"""Forms of the pipeline's pages: what is typed becomes what the services take; they judge it."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from core.errors import BadInput
from pipeline.models import Action, Configuration


class PlainText(forms.CharField):
    """Many lines as they were typed, with the line ends of Unix: browsers send those of Windows."""

    widget = forms.Textarea

    def to_python(self, value: object) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


def _lines(rows: int, **attributes: object) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, **attributes})


class AskForm(forms.Form):
    """A statement and, where it is known, what surrounds it."""

    statement = PlainText(
        label=_("What is to be done?"),
        strip=False,
        widget=_lines(4, autofocus=True, **{"class": "statement"}),
    )
    incident = PlainText(
        label=_("Incident"),
        required=False,
        strip=False,
        widget=_lines(3),
        help_text=_("The alert, or what somebody reported."),
    )
    environment = PlainText(
        label=_("Environment notes"),
        required=False,
        strip=False,
        widget=_lines(3),
        help_text=_("Systems, versions, names that the script may need."),
    )
    target = forms.CharField(
        label=_("Where it would run"), required=False, help_text=_("A host, a group, a cluster.")
    )
    impact = forms.CharField(
        label=_("What breaks if it is wrong"),
        required=False,
        help_text=_("Reviewers see it beside the script."),
    )
    severity = forms.TypedChoiceField(
        label=_("Severity"),
        choices=Action.Severity.choices,
        initial=Action.Severity.MEDIUM.value,
        coerce=int,
        help_text=_("Graver ones are reviewed first."),
    )
    reference = PlainText(
        label=_("Reference script"),
        required=False,
        strip=False,
        widget=_lines(3, spellcheck="false", **{"class": "mono"}),
        help_text=_("One that is known to be right. Models never see it."),
    )
    configuration = forms.ChoiceField(
        label=_("Configuration"), help_text=_("Who writes, who assesses, who refines.")
    )

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        configurations: Sequence[Configuration],
        initial: dict[str, str] | None = None,
    ) -> None:
        super().__init__(data, initial=initial)
        _offer(self, configurations)
        # Home asks for the statement alone: what a page does not send is as this form would begin.
        if data is not None and (unsent := {"severity", "configuration"} - data.keys()):
            self.data = data.copy()
            for name in unsent:
                self.data[name] = self.get_initial_for_field(self.fields[name], name) or ""


class RunForm(forms.Form):
    """Another run of an Action."""

    configuration = forms.ChoiceField(label=_("Configuration"))
    retrieval = forms.BooleanField(
        label=_("Search the catalogue first"), required=False, initial=True
    )

    def __init__(
        self, data: QueryDict | None = None, *, configurations: Sequence[Configuration]
    ) -> None:
        super().__init__(data)
        _offer(self, configurations)


class UseForm(forms.Form):
    """Why a script is used that nobody has reviewed."""

    reason = PlainText(
        label=_("Reason"), widget=_lines(2), help_text=_("Why can't it wait for a review?")
    )


def add_refusal(form: forms.Form, refusal: BadInput) -> None:
    """Show what a service refused beside the field that it is about."""
    form.add_error(refusal.field if refusal.field in form.fields else None, str(refusal))


def _offer(form: forms.Form, configurations: Sequence[Configuration]) -> None:
    """Let people choose among these configurations; the default one unless they say otherwise."""
    field = form.fields["configuration"]
    assert isinstance(field, forms.ChoiceField)
    field.choices = [(one.name, one.title) for one in configurations]
    field.initial = next((one.name for one in configurations if one.is_default), None)
