"""The form for editing one sandbox test on the review page."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from core.web.forms import PlainText


class CaseForm(forms.Form):
    """One sandbox test as JSON, with the reason for adding or correcting it."""

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
