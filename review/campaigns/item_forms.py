"""Forms about a campaign's items: what is looked for to fill it, and what an item is for."""

from __future__ import annotations

from django import forms
from django.core.validators import ProhibitNullCharactersValidator
from django.utils.translation import gettext_lazy as _

from review.campaigns.forms import Words
from review.models import Score

# Why execution and experts differ on an item, in words.
EXECUTION_REASONS = {
    "different_interpretation": _("different interpretation"),
    "too_strict": _("too strict"),
    "wrong_expected_output": _("wrong expected output"),
    "other": _("other"),
}


class SearchForm(forms.Form):
    """What is looked for among actions and finished runs."""

    kind = forms.ChoiceField(
        label=_("From"),
        choices=[("actions", _("Actions, to be run")), ("runs", _("Finished runs"))],
        required=False,
    )
    q = forms.CharField(
        label=_("Words of the statement"),
        required=False,
        validators=[ProhibitNullCharactersValidator()],
        widget=forms.SearchInput(),
    )


class KnownForm(forms.Form):
    """What a case is for, and the right scores of a gold or training one."""

    purpose = forms.ChoiceField(
        label=_("Purpose"),
        choices=[
            ("real", _("Real: counts in every figure")),
            ("gold", _("Gold: measures its reviewers, who are not told")),
            ("training", _("Training: comes first, and shows the right scores afterwards")),
        ],
    )
    why = Words(
        label=_("Why these scores are right"),
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=_("Shown after a training item."),
    )

    def __init__(self, data: object = None, *, initial: dict[str, object] | None = None) -> None:
        super().__init__(data, initial=initial)  # type: ignore[arg-type]
        for stage, label in Score.Stage.choices:
            self.fields[stage] = forms.TypedChoiceField(
                label=label,
                required=False,
                coerce=int,
                empty_value=None,
                choices=[("", _("not asked")), *Score.Value.choices],
            )
        self.order_fields(["purpose", *Score.Stage.values, "why"])

    def known(self) -> dict[str, object]:
        """The right answers of a valid form."""
        given = self.cleaned_data
        found = {stage: given[stage] for stage in Score.Stage.values if given[stage] is not None}
        return {**found, "why": given["why"]} if given["why"] else found
