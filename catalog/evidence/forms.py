"""The form to write or upload a test suite."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from catalog.execution.cases.case import LARGEST_SET
from core.web.forms import PlainText


class CasesForm(forms.Form):
    """A test suite as JSON. An uploaded file replaces the text in the field."""

    cases = PlainText(
        label=_("Tests"),
        rows=30,
        code=True,
        required=False,
        help_text=_(
            "Scenarios in JSON, with the checks that a script must pass in each. The guide to sandbox tests has an "
            "example of every check."
        ),
    )
    file = forms.FileField(
        label=_("Or upload a file"),
        required=False,
        allow_empty_file=True,
        help_text=_("A .json file replaces the text above."),
        widget=forms.ClearableFileInput(attrs={"accept": ".json,application/json"}),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        file = cleaned.get("file")
        if file is not None:
            if file.size > LARGEST_SET:
                self.add_error("file", _("The file is larger than 4 MB. Split the test suite."))
                return cleaned
            try:
                cleaned["cases"] = file.read().decode("utf-8-sig")
            except UnicodeDecodeError:
                self.add_error(
                    "file", _("This file is not valid UTF-8. Save it as UTF-8 and upload it again.")
                )
        elif not cleaned.get("cases", "").strip():
            self.add_error("cases", _("Enter tests or choose a file."))
        return cleaned
