"""Parts of forms that every app uses."""

from __future__ import annotations

from django import forms

from core.errors import BadInput


class PlainText(forms.CharField):
    """Many lines as they were typed, with the line ends of Unix: browsers send those of Windows."""

    widget = forms.Textarea

    def to_python(self, value: object) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


def add_refusal(form: forms.Form, refusal: BadInput) -> None:
    """Show what a service refused beside the field that it is about."""
    form.add_error(refusal.field if refusal.field in form.fields else None, str(refusal))
