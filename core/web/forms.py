"""Form fields and helpers that every app uses."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from django import forms

from core.errors import BadInput


class PlainText(forms.CharField):
    """Text of many lines, with the Windows line ends of browsers converted to Unix ones.

    With `code`, it is a script: fixed-width font, spaces kept. Further options are those of CharField.
    """

    def __init__(self, *, rows: int = 3, code: bool = False, **options: Any) -> None:
        self.code = code
        classes = {"class": "mono", "spellcheck": "false"} if code else {}
        options.setdefault("widget", forms.Textarea(attrs={"rows": rows, **classes}))
        super().__init__(**{"strip": not code, **options})

    def to_python(self, value: str | None) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


def is_script(field: forms.Field) -> bool:
    """Return whether users type scripts into the field."""
    return isinstance(field, PlainText) and field.code


class FoldedForm(forms.Form):
    """A form that shows its `common` fields first and collapses the others.

    If `common` is empty, all fields are shown. The collapsed part is open if one of its fields has an error.
    """

    common: ClassVar[tuple[str, ...]] = ()

    @property
    def common_fields(self) -> list[forms.BoundField]:
        """The fields that are always shown."""
        return [self[name] for name in self.fields if not self.common or name in self.common]

    @property
    def folded_fields(self) -> list[forms.BoundField]:
        """The fields that are collapsed."""
        return [self[name] for name in self.fields if self.common and name not in self.common]

    @property
    def is_unfolded(self) -> bool:
        """Return whether a collapsed field has to be visible."""
        return any(one.errors for one in self.folded_fields)


def add_refusal(form: forms.Form, refusal: BadInput) -> None:
    """Show a service's error at the field that caused it."""
    form.add_error(refusal.field if refusal.field in form.fields else None, str(refusal))


def retype(form: forms.Form, **values: object) -> None:
    """Add these values to the submitted data."""
    form.data = {name: form.data[name] for name in form.data} | values


def split_words(text: str) -> list[str]:
    """Return the words separated by commas, spaces or line ends, without duplicates."""
    return list(dict.fromkeys(word for word in re.split(r"[,\s]+", text) if word))


def split_lines(text: str) -> list[str]:
    """Return the lines that are not blank."""
    return [line.strip() for line in text.splitlines() if line.strip()]
