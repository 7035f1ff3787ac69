"""Forms for a campaign's items: a search for items to add, and the purpose of an item."""

from __future__ import annotations

from django import forms
from django.core.validators import ProhibitNullCharactersValidator
from django.utils.translation import gettext_lazy as _

from review.campaigns.forms import Words
from review.models import Score

# Displayed reasons why the execution result of an item differs from its scores.
EXECUTION_REASONS = {
    "different_interpretation": _("different interpretation"),
    "too_strict": _("too strict"),
    "wrong_expected_output": _("wrong expected output"),
    "other": _("other"),
}


class SearchForm(forms.Form):
    """A search for actions or finished runs."""

    kind = forms.ChoiceField(
        label=_("Source"),
        choices=[("actions", _("Requests to run")), ("runs", _("Finished runs"))],
        required=False,
    )
    q = forms.CharField(
        label=_("Search statements"),
        required=False,
        validators=[ProhibitNullCharactersValidator()],
        widget=forms.SearchInput(),
    )


class KnownForm(forms.Form):
    """The purpose of a case, with the correct scores of gold and training cases."""

    purpose = forms.ChoiceField(
        label=_("Purpose"),
        choices=[
            ("real", _("Real: counts in all figures")),
            ("gold", _("Gold: checks reviewers without their knowledge")),
            ("training", _("Training: shown first, followed by the correct scores")),
        ],
    )
    why = Words(
        label=_("Why these scores are correct"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Shown to reviewers after a training item."),
    )

    def __init__(self, data: object = None, *, initial: dict[str, object] | None = None) -> None:
        super().__init__(data, initial=initial)  # type: ignore[arg-type]
        for stage, label in Score.Stage.choices:
            self.fields[stage] = forms.TypedChoiceField(
                label=label,
                required=False,
                coerce=int,
                empty_value=None,
                choices=[("", _("not specified")), *Score.Value.choices],
            )
        self.order_fields(["purpose", *Score.Stage.values, "why"])

    def known(self) -> dict[str, object]:
        """Return the correct scores of a valid form."""
        given = self.cleaned_data
        found = {stage: given[stage] for stage in Score.Stage.values if given[stage] is not None}
        return {**found, "why": given["why"]} if given["why"] else found
