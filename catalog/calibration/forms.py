"""Forms on the calibration page."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from catalog.models import MatchLabel
from core.web.forms import PlainText


class WantedForm(forms.Form):
    """The target precision, from the page's URL."""

    precision = forms.FloatField(
        label=_("Target precision (%)"),
        required=False,
        min_value=1,
        max_value=100,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )


class ThresholdForm(forms.Form):
    """The lowest confidences at which an entry is a match or a starting point."""

    match = forms.FloatField(
        label=_("Match threshold"),
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    adapt = forms.FloatField(
        label=_("Starting point threshold"),
        min_value=0,
        max_value=1,
        widget=forms.NumberInput(attrs={"step": "any"}),
    )
    why = forms.CharField(label=_("Reason"), max_length=2000)
    wanted_precision = forms.FloatField(required=False, widget=forms.HiddenInput)
    seen = forms.IntegerField(widget=forms.HiddenInput)


class ScoringForm(forms.Form):
    """The scoring to use, or empty for the shipped scoring."""

    model = forms.IntegerField(required=False, widget=forms.HiddenInput)
    why = PlainText(label=_("Reason"), rows=2, max_length=2000)


class LabelForm(forms.Form):
    """A user's label for a case."""

    statement = forms.CharField(widget=forms.HiddenInput, max_length=20_000, strip=False)
    version = forms.IntegerField(widget=forms.HiddenInput)
    picked = forms.CharField(widget=forms.HiddenInput, max_length=10)
    label = forms.ChoiceField(choices=MatchLabel.Label.choices)
