"""Forms of the sample size page, which convert percentages to the proportions that plans store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from django import forms
from django.utils.translation import gettext_lazy as _

from core.web.forms import FoldedForm
from review.campaigns.services.planning import Plan
from review.models import Campaign
from review.study.planning import Aim

_PERCENT = 100


def _percent(
    label: object, *, help_text: object = "", least: float = 0, most: float = 100
) -> forms.FloatField:
    return forms.FloatField(
        label=label,  # type: ignore[arg-type]
        help_text=help_text,  # type: ignore[arg-type]
        min_value=least,
        max_value=most,
        widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
    )


class PlanForm(FoldedForm):
    """The inputs for all aims. `percent` lists the fields that are entered as percentages."""

    aim: ClassVar[Aim]
    percent: ClassVar[tuple[str, ...]]
    default: ClassVar[Mapping[str, float]]
    least_arms: ClassVar[int] = 1

    deff = forms.FloatField(
        label=_("Design effect"),
        min_value=1,
        max_value=100,
        help_text=_(
            "1 if no statement is repeated under a configuration. Otherwise, items that "
            "share a statement are correlated: with m items per statement and a "
            "correlation of r, the design effect is about 1 + (m - 1) r. The number of items is "
            "multiplied by the design effect."
        ),
        widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
    )
    minutes = forms.FloatField(
        label=_("Active minutes per reviewer per item"),
        required=False,
        min_value=0.1,
        max_value=600,
        help_text=_(
            "With the hours below, this determines the number of reviewers. Leave blank if unknown. A "
            "pilot will show it."
        ),
        widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
    )
    hours = forms.FloatField(
        label=_("Hours available per reviewer"),
        required=False,
        min_value=0.1,
        max_value=10_000,
        widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
    )
    overlap = forms.IntegerField(
        label=_("Reviewers per item"), required=False, min_value=1, max_value=20
    )
    arms = forms.IntegerField(
        label=_("Configurations per statement"), required=False, min_value=1, max_value=50
    )

    def __init__(self, data: object = None, *, campaign: Campaign, plan: Plan | None) -> None:
        known = dict(self.default)
        if "reviewers" in known:
            known["reviewers"] = max(2, campaign.overlap)
        known |= {"overlap": campaign.overlap, "arms": self.least_arms}
        if plan and plan.aim is self.aim:
            known |= {**plan.assumed, **(plan.work.assumed if plan.work else {})}
        initial = {
            name: round(value * _PERCENT, 6) if name in self.percent else value
            for name, value in known.items()
        }
        super().__init__(data, initial={name: f"{value:g}" for name, value in initial.items()})  # type: ignore[arg-type]

    def assumed(self) -> dict[str, float]:
        """Return the assumptions from a valid form, with proportions instead of percentages."""
        return {
            name: value / _PERCENT if name in self.percent else float(value)
            for name, value in self.cleaned_data.items()
            if value is not None
        }


class ShareForm(PlanForm):
    """The inputs for estimating a proportion, such as first-pass accuracy, with a given margin of error."""

    aim = Aim.SHARE
    percent = ("share", "half_width")
    default: ClassVar[Mapping[str, float]] = {"share": 0.5, "half_width": 0.08, "deff": 1}
    common = ("share", "half_width", "minutes", "hours")
    field_order = ("share", "half_width", "minutes", "hours", "overlap", "arms", "deff")

    share = _percent(
        _("Expected proportion (%)"),
        help_text=_("If unsure, use 50. It gives the largest sample."),
    )
    half_width = _percent(
        _("Margin of error (percentage points)"),
        help_text=_("For example, 8 gives an interval of 42% to 58%."),
        least=0.5,
        most=50,
    )


class PairedForm(PlanForm):
    """The inputs for comparing two configurations on the same items."""

    aim = Aim.PAIRED
    least_arms = 2
    percent = ("gained", "lost", "power")
    default: ClassVar[Mapping[str, float]] = {"gained": 0.15, "lost": 0.05, "power": 0.8, "deff": 1}
    common = ("gained", "lost", "power", "minutes", "hours")
    field_order = ("gained", "lost", "power", "minutes", "hours", "overlap", "arms", "deff")

    gained = _percent(_("Correct only with the comparison (% of items)"))
    lost = _percent(
        _("Correct only with the baseline (% of items)"),
        help_text=_(
            "The study is designed to detect the difference between these two percentages."
        ),
    )
    power = _percent(
        _("Power (%)"),
        help_text=_(
            "How often a study of this size detects the difference at the 5% level. Usual values are 80 and 90."
        ),
        least=10,
        most=99.9,
    )


class AgreementForm(PlanForm):
    """The inputs for estimating the agreement between reviewers with a given margin of error."""

    aim = Aim.AGREEMENT
    percent = ("incorrect", "partial", "correct")
    default: ClassVar[Mapping[str, float]] = {
        **{"incorrect": 0.4, "partial": 0.15, "correct": 0.45},
        **{"alpha": 0.7, "width": 0.2, "reviewers": 2, "deff": 1},
    }
    common = ("alpha", "width", "reviewers", "minutes", "hours")
    field_order = (
        *("alpha", "width", "reviewers", "minutes", "hours", "arms"),
        *("incorrect", "partial", "correct", "deff"),
    )
    overlap = None  # type: ignore[assignment]  # `reviewers` replaces this field

    alpha = forms.FloatField(
        label=_("Expected Krippendorff’s alpha"),
        min_value=0,
        max_value=0.99,
        help_text=_(
            "0.67 is often considered the minimum for drawing conclusions. 0.8 is considered good."
        ),
        widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
    )
    width = forms.FloatField(
        label=_("Width of the interval"),
        min_value=0.02,
        max_value=1,
        help_text=_("For example, 0.2 gives an interval of 0.6 to 0.8."),
        widget=forms.NumberInput(attrs={"step": "any", "inputmode": "decimal"}),
    )
    reviewers = forms.IntegerField(label=_("Reviewers per item"), min_value=2, max_value=20)
    incorrect = _percent(_("Scores of 0 (%)"))
    partial = _percent(_("Scores of 1 (%)"))
    correct = _percent(_("Scores of 2 (%)"))


FORMS: Mapping[Aim, type[PlanForm]] = {
    form.aim: form for form in (ShareForm, PairedForm, AgreementForm)
}
