"""Parts of forms that every app uses."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from django import forms

from core.errors import BadInput


class PlainText(forms.CharField):
    """Many lines as they were typed, with the line ends of Unix: browsers send those of Windows.

    `code`: a script, in the fixed font and with the spaces around it. What CharField takes may be given beside.
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
    """A form that shows its `common` fields first; the others are folded away until somebody wants them.

    Where none is named all are shown. It stands open where one of the others holds an error.
    """

    common: ClassVar[tuple[str, ...]] = ()

    @property
    def common_fields(self) -> list[forms.BoundField]:
        """What is always shown."""
        return [self[name] for name in self.fields if not self.common or name in self.common]

    @property
    def folded_fields(self) -> list[forms.BoundField]:
        """What is folded away."""
        return [self[name] for name in self.fields if self.common and name not in self.common]

    @property
    def is_unfolded(self) -> bool:
        """Whether something folded away has to be seen."""
        return any(one.errors for one in self.folded_fields)


def add_refusal(form: forms.Form, refusal: BadInput) -> None:
    """Show what a service refused beside the field that it is about."""
    form.add_error(refusal.field if refusal.field in form.fields else None, str(refusal))


def retype(form: forms.Form, **values: object) -> None:
    """Let the form stand as if these values had been typed, beside what was."""
    form.data = {name: form.data[name] for name in form.data} | values


def split_words(text: str) -> list[str]:
    """Words between commas, spaces or line ends, each once."""
    return list(dict.fromkeys(word for word in re.split(r"[,\s]+", text) if word))


def split_lines(text: str) -> list[str]:
    """Lines that say something."""
    return [line.strip() for line in text.splitlines() if line.strip()]
