"""Forms to use a script: parameter values, and the outcome."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django import forms
from django.utils.translation import gettext_lazy as _

from catalog.models import Use, Version
from catalog.version_details import Parameter, ParameterType

_VALUE = "value-"  # prefix of a parameter's field name


class UseForm(forms.Form):
    """One field for each parameter of a version, and a field for a reason. The service validates the values."""

    reason = forms.CharField(label=_("Why use this script anyway?"), required=False)

    def __init__(
        self,
        version: Version,
        data: Mapping[str, str] | None = None,
        *,
        prefill: Mapping[str, str] | None = None,
    ) -> None:
        """Create the form. `prefill` contains values from the URL, such as literals from a statement."""
        given = {name: text for name, text in (prefill or {}).items() if name.startswith(_VALUE)}
        super().__init__(data, auto_id="use_%s", initial=given)
        self.order_fields([*self._add_parameters(version.parameters), "reason"])

    def values(self) -> dict[str, str]:
        """Return the values by parameter. A form that was not submitted returns the initial values."""
        values = {}
        for name in self.fields:
            if name.startswith(_VALUE):
                typed = self[name].value()
                values[name.removeprefix(_VALUE)] = "" if typed is None else str(typed)
        return values

    def parameter_fields(self) -> list[forms.BoundField]:
        """Return the parameter fields for the template."""
        return [self[name] for name in self.fields if name.startswith(_VALUE)]

    def add_error(self, field: str | None, error: str) -> None:  # type: ignore[override]
        """Add the error to the field, which can be a parameter name without the prefix."""
        own = f"{_VALUE}{field}"
        super().add_error(own if own in self.fields else field, error)

    def _add_parameters(self, parameters: Sequence[Mapping[str, object]]) -> list[str]:
        names = []
        for parameter in (Parameter.model_validate(row) for row in parameters):
            name = f"{_VALUE}{parameter.name}"
            self.fields[name] = forms.CharField(
                label=parameter.name,
                help_text=parameter.description,
                initial=parameter.default or "",
                required=False,
                widget=_widget_for(parameter),
            )
            names.append(name)
        return names


def _widget_for(parameter: Parameter) -> forms.Widget:
    if parameter.type is ParameterType.CHOICE:
        choices = [("", "–"), *((choice, choice) for choice in parameter.choices)]
        return forms.Select(choices=choices)
    mode = "decimal" if parameter.type is ParameterType.NUMBER else "text"
    attributes = {"class": "mono", "inputmode": mode, "autocomplete": "off"}
    return forms.TextInput(attrs={**attributes, "spellcheck": "false"})


class OutcomeForm(forms.Form):
    """The outcome of a use."""

    outcome = forms.ChoiceField(
        label=_("How did it go?"),
        choices=Use.Outcome.choices,
        error_messages={"required": _("Choose one of the buttons.")},
    )
    incident = forms.CharField(label=_("Incident"), required=False, max_length=100)
    note = forms.CharField(label=_("Note"), required=False, max_length=2000)
