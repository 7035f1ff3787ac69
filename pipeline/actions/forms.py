"""The forms to request a script and to erase its texts. They only convert input, which the services validate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from core.web.forms import PlainText
from pipeline.models import Action, Configuration
from pipeline.runs.forms import SecretsChoiceForm, offer_configurations, text_area


class EraseForm(forms.Form):
    """A form that requires a typed confirmation with the action's number, because erased texts can't be restored."""

    confirmed = forms.CharField(widget=forms.TextInput(attrs={"autocomplete": "off"}))

    def __init__(self, *args: Any, action: Action, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._words = f"erase {action.pk}"
        self.fields["confirmed"].label = _("To confirm, type: %(words)s") % {"words": self._words}

    def clean_confirmed(self) -> str:
        confirmed = str(self.cleaned_data["confirmed"])
        if " ".join(confirmed.split()) != self._words:
            raise forms.ValidationError(_("Type the words shown above."))
        return confirmed


class AskForm(SecretsChoiceForm):
    """A statement with optional context."""

    is_new = True

    statement = PlainText(
        label=_("What do you need done?"),
        strip=False,
        widget=text_area(4, autofocus=True, **{"class": "statement"}),
    )
    incident = PlainText(
        label=_("Incident"),
        required=False,
        strip=False,
        widget=text_area(3),
        help_text=_("The alert or report behind this request."),
    )
    environment = PlainText(
        label=_("Environment notes"),
        required=False,
        strip=False,
        widget=text_area(3),
        help_text=_("Systems, versions and names the script may need."),
    )
    target = forms.CharField(
        label=_("Target"), required=False, help_text=_("A host, group or cluster.")
    )
    impact = forms.CharField(
        label=_("Impact if wrong"),
        required=False,
        help_text=_("What would break. Shown to reviewers next to the script."),
    )
    severity = forms.TypedChoiceField(
        label=_("Severity"),
        choices=Action.Severity.choices,
        initial=Action.Severity.MEDIUM.value,
        coerce=int,
        help_text=_("The most severe requests are reviewed first."),
    )
    reference = PlainText(
        label=_("Reference script"),
        required=False,
        code=True,
        help_text=_("A known-good script. Never shown to models."),
    )
    configuration = forms.ChoiceField(
        label=_("Configuration"),
        help_text=_("The models that write, assess and refine the script."),
    )

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        configurations: Sequence[Configuration],
        initial: dict[str, str] | None = None,
    ) -> None:
        super().__init__(data, initial=initial)
        offer_configurations(self, configurations)
        # The form on the home page sends only the statement. Other fields get their initial values.
        if data is not None and (unsent := {"severity", "configuration"} - data.keys()):
            self.data = data.copy()
            for name in unsent:
                self.data[name] = self.get_initial_for_field(self.fields[name], name) or ""
