"""The form that one case is written in on the review screen."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from core.web.forms import PlainText


class CaseForm(forms.Form):
    """One case as JSON, and why it is corrected or added."""

    case = PlainText(
        label=_("Case"),
        rows=26,
        code=True,
        help_text=_(
            "JSON without code: a prepared world, and what is to hold after the script ran in it. The guide to"
            " execution has every check with an example."
        ),
    )
    reason = forms.CharField(
        label=_("Why"),
        max_length=1_000,
        help_text=_("What was wrong with the case, or what is missing without this one."),
    )
