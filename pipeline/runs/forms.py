"""Forms about runs: starting one, and using a script that nobody has reviewed."""

from __future__ import annotations

from collections.abc import Sequence

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from core.web.forms import PlainText
from pipeline.models import Configuration


def text_area(rows: int, **attributes: object) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, **attributes})


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
        offer_configurations(self, configurations)


class UseForm(forms.Form):
    """Why a script is used that nobody has reviewed."""

    reason = PlainText(
        label=_("Reason"), widget=text_area(2), help_text=_("Why can't it wait for a review?")
    )


def offer_configurations(form: forms.Form, configurations: Sequence[Configuration]) -> None:
    """Let people choose among these configurations; the default one unless they say otherwise."""
    field = form.fields["configuration"]
    assert isinstance(field, forms.ChoiceField)
    field.choices = [(one.name, one.title) for one in configurations]
    field.initial = next((one.name for one in configurations if one.is_default), None)
