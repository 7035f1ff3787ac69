"""Form fields and helpers that all apps share."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from django import forms

from core.errors import BadInput


class PlainText(forms.CharField):
    """A field for multiline text that converts the CRLF line endings of browsers to LF.

    With `code`, the field is for a script: it has a fixed-width font, and its value is not stripped. Other options are
    passed to CharField.
    """

    def __init__(self, *, rows: int = 3, code: bool = False, **options: Any) -> None:
        self.code = code
        classes = {"class": "mono", "spellcheck": "false"} if code else {}
        options.setdefault("widget", forms.Textarea(attrs={"rows": rows, **classes}))
        super().__init__(**{"strip": not code, **options})

    def to_python(self, value: str | None) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


def is_script(field: forms.Field) -> bool:
    """Return whether the field is for a script."""
    return isinstance(field, PlainText) and field.code


class FoldedForm(forms.Form):
    """A form that shows its `common` fields first and collapses the others.

    If `common` is empty, all fields are shown. The collapsed part is expanded if one of its fields has an error.
    """

    common: ClassVar[tuple[str, ...]] = ()

    @property
    def common_fields(self) -> list[forms.BoundField]:
        """Return the fields that are always shown."""
        return [self[name] for name in self.fields if not self.common or name in self.common]

    @property
    def folded_fields(self) -> list[forms.BoundField]:
        """Return the fields that are collapsed."""
        return [self[name] for name in self.fields if self.common and name not in self.common]

    @property
    def is_unfolded(self) -> bool:
        """Return whether a collapsed field has an error, so the form must be expanded."""
        return any(one.errors for one in self.folded_fields)


def add_refusal(form: forms.Form, refusal: BadInput) -> None:
    """Add a service's error to the field that caused it, or to the form."""
    form.add_error(refusal.field if refusal.field in form.fields else None, str(refusal))


def retype(form: forms.Form, **values: object) -> None:
    """Add these values to the submitted data."""
    form.data = {name: form.data[name] for name in form.data} | values


def split_words(text: str) -> list[str]:
    """Return the words separated by commas or white space, without duplicates."""
    return list(dict.fromkeys(word for word in re.split(r"[,\s]+", text) if word))


def split_lines(text: str) -> list[str]:
    """Return the nonblank lines, stripped."""
    return [line.strip() for line in text.splitlines() if line.strip()]
