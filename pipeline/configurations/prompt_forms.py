"""Forms for choosing prompt versions and for writing a new version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from core.web.forms import PlainText
from pipeline.models import PromptVersion


class PinsForm(forms.Form):
    """The pinned version of each prompt."""

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        versions: Mapping[str, Sequence[PromptVersion]],
        pinned: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(data, prefix="prompts", initial=dict(pinned or {}))
        for name, rows in versions.items():
            self.fields[name] = forms.ChoiceField(
                label=name,
                required=False,
                choices=[
                    ("", _("built-in, currently %s") % rows[0].version),
                    *((row.version, _describe(row)) for row in rows),
                ],
            )

    @property
    def has_chosen(self) -> bool:
        """Return whether any version is pinned, either in the input or in the stored plan."""
        return any(self[name].value() for name in self.fields)

    def pins(self) -> dict[str, str]:
        """Return the pinned versions by name, from a valid form."""
        return {name: version for name, version in self.cleaned_data.items() if version}


class PromptForm(forms.Form):
    """A new version of a prompt."""

    text = PlainText(
        label=_("Text"),
        strip=False,
        widget=forms.Textarea(attrs={"rows": 24, "class": "mono", "spellcheck": "false"}),
    )
    note = forms.CharField(
        label=_("Change"),
        required=False,
        help_text=_("Describe in one line what changed in this version."),
    )


def _describe(row: PromptVersion) -> str:
    words = [row.version]
    if row.note:
        words.append(row.note)
    elif row.source == PromptVersion.Source.FILE:
        words.append(row.get_source_display())
    return ": ".join(words)
