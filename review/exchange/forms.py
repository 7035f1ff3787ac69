"""Forms of the import and export pages, and of the page that creates a study from a file."""

from __future__ import annotations

from django import forms
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from core.web.forms import FoldedForm, PlainText
from review.exchange.exporting.exporter import Layout
from review.exchange.rows.columns import BadMapping, read_pairs
from review.exchange.source import FORMAT_TITLES, Format
from review.models import Transfer

_PRESETS = [
    (
        "standard",
        _("Standard: two reviewers per item, blinded, in random order"),
    ),
    (
        "rigorous",
        _("Rigorous: Standard plus reviewer checks (sham stages, halo checks, hidden repeats)"),
    ),
]


class NewForm(FoldedForm):
    """A new campaign: its name and, optionally, a file with its items."""

    common = ("name", "file")

    name = forms.CharField(
        label=_("Name"), max_length=150, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    file = forms.FileField(
        label=_("Items file"),
        required=False,
        help_text=format_lazy(
            _(
                "One row per statement, with or without scripts ({formats}). "
                "Choose the file or drop it here. You map the columns in the next step. "
                "Without a file, you can add existing requests and runs later."
            ),
            formats=FORMAT_TITLES,
        ),
        # Allow empty files here, because the import has a better error message for them.
        allow_empty_file=True,
    )
    description = PlainText(
        label=_("Description"),
        required=False,
        help_text=_("Reviewers see the description, so don't reveal expected results."),
    )
    preset = forms.ChoiceField(
        label=_("Preset"),
        choices=_PRESETS,
        widget=forms.RadioSelect,
        initial="standard",
    )


class ImportForm(FoldedForm):
    """A file to import.

    Unless the user chooses a kind, the columns determine whether the file contains items or scores.
    """

    common = ("file",)

    file = forms.FileField(
        label=_("File"),
        help_text=format_lazy(
            _(
                "{formats}, including files from Excel and pandas (UTF-16, Windows-1252) "
                "and the formats of InterCode and nl2bash-eabench."
            ),
            formats=FORMAT_TITLES,
        ),
        # Allow empty files here, because the import has a better error message for them.
        allow_empty_file=True,
    )
    kind = forms.ChoiceField(
        label=_("Content"),
        required=False,
        choices=[
            ("", _("Detect from the columns")),
            (
                Transfer.Kind.ITEMS.value,
                _(
                    "Items (columns id and statement, optionally context, reference, script, feedback and verdict)"
                ),
            ),
            (
                Transfer.Kind.SCORES.value,
                _(
                    "Scores from elsewhere (columns item and reviewer, and script, feedback or refined with 0, 1 or 2)"
                ),
            ),
        ],
        widget=forms.RadioSelect,
        initial="",
    )
    mapping = forms.CharField(
        label=_("Columns with different names"),
        required=False,
        max_length=10_000,
        widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false", "class": "code-input"}),
        help_text=_(
            "Enter one per line, with ScriptSmith's name first, such as statement=query. For nested "
            "records, enter a path, such as statement=data.prompt. If each reviewer has a score column, "
            "enter reviewer:A=rater_a or reviewer:A:refined=a_refined. For tie-breakers and final "
            "scores, enter called_in:C=rater_c or adjudicated:A=final."
        ),
    )
    format = forms.ChoiceField(
        label=_("Format"),
        required=False,
        choices=[("", _("Detect automatically")), *((one.value, one.value) for one in Format)],
    )

    def clean_mapping(self) -> dict[str, str]:
        """Return the mapping from ScriptSmith's names to the columns of the file."""
        lines = (line.strip() for line in self.cleaned_data["mapping"].splitlines())
        try:
            return read_pairs(line for line in lines if line)
        except BadMapping as error:
            raise forms.ValidationError(str(error)) from error


class ExportForm(forms.Form):
    """The format of an export."""

    layout = forms.ChoiceField(
        label=_("Layout"),
        choices=[
            (Layout.JSONL.value, _("JSONL: one record per line (can be imported again)")),
            (Layout.CSV.value, _("CSV: one table, for spreadsheets (can be imported again)")),
            (Layout.JSON.value, _("JSON: one array")),
            (
                Layout.LONG.value,
                _("Long CSV: one line per score, without texts, for mixed models"),
            ),
            (Layout.DATASET.value, _("Dataset folder: items and scores as JSONL, with a card")),
            (Layout.EABENCH.value, _("nl2bash-eabench results: first scripts only")),
        ],
        widget=forms.RadioSelect,
        initial=Layout.JSONL.value,
    )
