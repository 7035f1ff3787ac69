"""The cost query as a form. The page, the file and the API read the query from the URL."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

from django import forms
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.translation import gettext_lazy as _

from core.errors import BadInput
from pipeline.costs.services import By, CostQuery, Per, check_query, default_range

BY_CHOICES = [
    (By.MODEL.value, _("Model")),
    (By.CONFIGURATION.value, _("Configuration")),
    (By.BATCH.value, _("Batch")),
    (By.STAGE.value, _("Stage")),
]
PER_CHOICES = [(Per.MONTH.value, _("Month")), (Per.DAY.value, _("Day"))]
_SHOW = [
    ("cost", _("Cost")),
    ("tokens", _("Tokens")),
    ("calls", _("Calls")),
    ("time", _("Model time")),
]


def _day_input() -> forms.DateInput:
    return forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")


def _read_day(text: str | None) -> date | None:
    """Return the day, or None if it can't be parsed. The field then reports an error."""
    try:
        return parse_date(text or "")
    except ValueError:
        return None


class CostForm(forms.Form):
    """The filter bar of the page. Parameters that are missing from the URL get visible defaults."""

    since = forms.DateField(label=_("From"), widget=_day_input())
    until = forms.DateField(label=_("To"), widget=_day_input())
    per = forms.ChoiceField(label=_("Group by"), choices=PER_CHOICES)
    by = forms.ChoiceField(label=_("Split by"), choices=BY_CHOICES)
    show = forms.ChoiceField(label=_("Chart"), choices=_SHOW, required=False)
    configuration = forms.CharField(required=False, max_length=80, widget=forms.HiddenInput())
    batch = forms.IntegerField(required=False, min_value=0, widget=forms.HiddenInput())

    def __init__(self, address: Mapping[str, object]) -> None:
        today = timezone.now().date()
        given = {name: str(address[name]) for name in self.base_fields if address.get(name)}
        per = Per.DAY if given.get("per") == Per.DAY else Per.MONTH
        defaults = {
            "since": default_range(per, until=_read_day(given.get("until")) or today).isoformat(),
            "until": today.isoformat(),
            "per": per.value,
            "by": By.MODEL.value,
        }
        super().__init__(defaults | given)

    def clean(self) -> dict[str, object]:
        super().clean()
        if not self.errors:
            try:
                check_query(self.query)
            except BadInput as refusal:
                self.add_error(refusal.field or None, str(refusal))
        return self.cleaned_data

    @property
    def query(self) -> CostQuery:
        """Return the query of a valid form."""
        wanted = self.cleaned_data
        return CostQuery(
            since=wanted["since"],
            until=wanted["until"],
            per=Per(wanted["per"]),
            by=By(wanted["by"]),
            configuration=wanted["configuration"],
            batch=wanted["batch"],
        )
