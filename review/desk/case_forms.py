"""The form to edit a sandbox test on the review page."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from core.web.forms import PlainText


class CaseForm(forms.Form):
    """A sandbox test as JSON, with the reason for adding or correcting the test."""

    case = PlainText(
        label=_("Test"),
        rows=26,
        code=True,
        help_text=_(
            "The scenario and the checks that must pass after the script has run, as JSON. "
            "The guide to sandbox tests shows every check with an example."
        ),
    )
    reason = forms.CharField(
        label=_("Reason"),
        max_length=1_000,
        help_text=_("What was wrong with the test, or what the new test adds."),
    )
