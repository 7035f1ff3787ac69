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
        label=_("Cases"),
        rows=30,
        code=True,
        required=False,
        help_text=_(
            "JSON without code: prepared worlds, and what is to hold after the script ran in them. The guide"
            " to execution has every check with an example."
        ),
    )
    file = forms.FileField(
        label=_("Or a file"),
        required=False,
        allow_empty_file=True,
        help_text=_("A .json file takes the place of what is typed above."),
        widget=forms.ClearableFileInput(attrs={"accept": ".json,application/json"}),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        file = cleaned.get("file")
        if file is not None:
            if file.size > LARGEST_SET:
                self.add_error("file", _("A case set has at most 4 MB, and this file has more."))
                return cleaned
            try:
                cleaned["cases"] = file.read().decode("utf-8-sig")
            except UnicodeDecodeError:
                self.add_error("file", _("This file is not UTF-8."))
        elif not cleaned.get("cases", "").strip():
            self.add_error("cases", _("Type a case set, or choose a file."))
        return cleaned
