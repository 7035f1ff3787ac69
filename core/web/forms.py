"""Parts of forms that every app uses."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from django import forms

from core.errors import BadInput


class PlainText(forms.CharField):
    """Text of many lines, with Unix line ends: browsers send those of Windows.

    `code` makes it a script: fixed-width font, spaces kept. Arguments of CharField may be given as well.
    """

    def __init__(self, *, rows: int = 3, code: bool = False, **options: Any) -> None:
        self.code = code
        classes = {"class": "mono", "spellcheck": "false"} if code else {}
        options.setdefault("widget", forms.Textarea(attrs={"rows": rows, **classes}))
        super().__init__(**{"strip": not code, **options})

    def to_python(self, value: str | None) -> str:
        return (super().to_python(value) or "").replace("\r\n", "\n")


def is_script(field: forms.Field) -> bool:
    """Whether scripts are typed into it."""
    return isinstance(field, PlainText) and field.code


class FoldedForm(forms.Form):
    """A form that shows its `common` fields first and folds the others away.

    If `common` is empty, all fields are shown. The folded part is open if one of its fields has an error.
    """

    common: ClassVar[tuple[str, ...]] = ()

    @property
    def common_fields(self) -> list[forms.BoundField]:
        """The fields that are always shown."""
        return [self[name] for name in self.fields if not self.common or name in self.common]

    @property
    def folded_fields(self) -> list[forms.BoundField]:
        """The fields that are folded away."""
        return [self[name] for name in self.fields if self.common and name not in self.common]

    @property
    def is_unfolded(self) -> bool:
        """Whether a folded field has to be visible."""
        return any(one.errors for one in self.folded_fields)


def add_refusal(form: forms.Form, refusal: BadInput) -> None:
    """Show a service's error next to the field that it is about."""
    form.add_error(refusal.field if refusal.field in form.fields else None, str(refusal))


def retype(form: forms.Form, **values: object) -> None:
    """Add these values to what was typed."""
    form.data = {name: form.data[name] for name in form.data} | values


def split_words(text: str) -> list[str]:
    """Words separated by commas, spaces or line ends, without duplicates."""
    return list(dict.fromkeys(word for word in re.split(r"[,\s]+", text) if word))


def split_lines(text: str) -> list[str]:
    """The lines that are not blank."""
    return [line.strip() for line in text.splitlines() if line.strip()]
