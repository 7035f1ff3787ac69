"""Forms of the import and export pages."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _

from catalog.exchange.formats import Format
from catalog.models import Version


class ImportForm(forms.Form):
    """The form to upload a file with entries."""

    file = forms.FileField(
        label=_("File"),
        help_text=_(
            "JSONL, CSV or TSV (including files saved by Excel), or a .zip with a folder for each entry"
            " (metadata.yaml and script.sh)."
        ),
        allow_empty_file=True,  # an empty file has its own error message
    )
    state = forms.ChoiceField(
        label=_("Import entries as"),
        choices=[
            (
                Version.State.IN_REVIEW.value,
                _("in review, so that another curator can verify them"),
            ),
            (Version.State.DRAFT.value, _("drafts, so that you can keep editing them")),
        ],
        initial=Version.State.IN_REVIEW.value,
        widget=forms.RadioSelect,
    )


class ExportForm(forms.Form):
    """The form to choose the entries to export and the format."""

    layout = forms.ChoiceField(
        label=_("Format"),
        choices=[
            (Format.JSONL.value, _("JSONL (one entry per line)")),
            (Format.CSV.value, _("CSV (one table, for spreadsheets)")),
            (
                Format.ZIP.value,
                _(".zip (a folder per entry with metadata.yaml and script.sh, for repositories)"),
            ),
        ],
        initial=Format.JSONL.value,
        widget=forms.RadioSelect,
    )
    state = forms.ChoiceField(
        label=_("Entries to export"),
        required=False,
        choices=[
            ("", _("all entries with all versions")),
            *((value, label) for value, label in Version.State.choices),
        ],
        help_text=_("If you choose a state, only the newest version in that state is exported."),
    )
