"""Files in the admin: django-import-export's pages around the services of every other import and export."""

from __future__ import annotations

import io
import json
import re
import secrets
from collections.abc import Iterable
from pathlib import Path

import tablib
from django import forms
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from import_export.formats.base_formats import Format as LibraryFormat
from import_export.forms import ConfirmImportForm, ImportForm
from import_export.resources import Resource
from import_export.results import Error, Result, RowResult
from import_export.tmp_storages import BaseStorage

from catalog.exchange import services as exchange
from catalog.exchange.formats import (
    CONTENT_TYPES,
    EntryRecord,
    Format,
    Row,
    UnreadableFile,
    file_parts,
    read_file,
    read_record,
)
from catalog.exchange.services.import_jobs import files_folder
from catalog.models import Entry

MOST_BYTES = 1_000_000
MOST_ROWS = 300  # each new script is analysed while the person waits
_HEADERS = ("place", "record", "problem")
_NAME = re.compile(r"[0-9a-f]{32}")


class _EntryFormat(LibraryFormat):  # type: ignore[misc]
    """One of our formats, as the library wants it: a dataset with a record in each row."""

    format: Format

    def __init__(self, encoding: str | None = None) -> None:
        self.encoding = encoding

    def get_title(self) -> str:
        return self.format.value

    def get_extension(self) -> str:
        return self.format.value

    def get_content_type(self) -> str:
        return CONTENT_TYPES[self.format]

    def can_import(self) -> bool:
        return True

    def can_export(self) -> bool:
        return True

    def create_dataset(self, in_stream: bytes) -> tablib.Dataset:
        dataset = tablib.Dataset(headers=_HEADERS)
        try:
            for row in read_file(io.BytesIO(in_stream), self.format):
                dataset.append(_cells(row.record, row.place, row.problem))
        except UnreadableFile as error:
            dataset.append(_cells(None, _("file"), str(error)))
        return dataset

    def export_data(self, dataset: tablib.Dataset, **_options: object) -> bytes:
        return b"".join(file_parts(_records(dataset), self.format))


class Jsonl(_EntryFormat):
    format = Format.JSONL


class Csv(_EntryFormat):
    format = Format.CSV


class Zip(_EntryFormat):
    format = Format.ZIP


FORMATS = [Jsonl, Csv, Zip]


class EntryResource(Resource):  # type: ignore[misc]
    """Entries with all of their versions; every row goes through the service that all imports use."""

    @classmethod
    def get_display_name(cls) -> str:
        return _("Entries")

    def get_user_visible_fields(self) -> list[object]:
        return []

    def import_data(
        self,
        dataset: tablib.Dataset,
        *,
        dry_run: bool,
        user: User,
        file_name: str,
        **_options: object,
    ) -> Result:
        """What became of each row, or would; good rows are kept, and none waits for another."""
        result = Result()
        if len(dataset) > MOST_ROWS:
            said = _("The file has %(rows)s rows; import it on the catalogue's page.")
            result.append_base_error(Error(ValueError(said % {"rows": len(dataset)})))
            return result
        rows = (_row(place, record, problem) for place, record, problem in dataset)
        report = exchange.import_rows(rows, name=file_name, by=user, dry_run=dry_run)
        result.diff_headers = [_("Place"), _("Outcome"), _("Entry"), _("Why")]
        for row in report.rows:
            shown = RowResult()
            shown.import_type = _TYPES.get(row.outcome, RowResult.IMPORT_TYPE_SKIP)
            shown.diff = [row.place, row.outcome.value, row.title or row.slug, row.why]
            result.append_row_result(shown)
            result.increment_row_result_total(shown)
        result.total_rows = report.read
        result.counts = report.counts()
        return result

    def export(self, queryset: QuerySet[Entry], **_options: object) -> tablib.Dataset:
        """The entries of the list as it is filtered."""
        dataset = tablib.Dataset(headers=_HEADERS)
        for record in exchange.export_entries(among=queryset):
            dataset.append(_cells(record, record.slug or "", ""))
        return dataset


class EntryImportForm(ImportForm):  # type: ignore[misc]
    """The file is small: it is looked through while the person waits."""

    def clean_import_file(self) -> object:
        file = self.cleaned_data["import_file"]
        if file.size > MOST_BYTES:
            raise forms.ValidationError(
                _("The file has more than 1 MB; import it on the catalogue's page.")
            )
        return file


class EntryConfirmForm(ConfirmImportForm):  # type: ignore[misc]
    """Which file was looked through."""

    def clean_import_file_name(self) -> str:
        name = str(super().clean_import_file_name())
        if not _NAME.fullmatch(name) or not (files_folder() / name).is_file():
            raise forms.ValidationError(_("Choose the file again."))
        return name


class KeptFile(BaseStorage):  # type: ignore[misc]
    """A file between its preview and its import, where the other imports keep theirs."""

    def save(self, data: bytes) -> None:
        self.name = secrets.token_hex(16)
        self._path.write_bytes(data)

    def read(self) -> bytes:
        return self._path.read_bytes()

    def remove(self) -> None:
        self._path.unlink(missing_ok=True)

    @property
    def _path(self) -> Path:
        return files_folder() / self.name


_TYPES = {
    exchange.ImportOutcome.ENTRY: RowResult.IMPORT_TYPE_NEW,
    exchange.ImportOutcome.VERSION: RowResult.IMPORT_TYPE_UPDATE,
    exchange.ImportOutcome.LABELS: RowResult.IMPORT_TYPE_UPDATE,
    exchange.ImportOutcome.PHRASINGS: RowResult.IMPORT_TYPE_UPDATE,
}


def _cells(record: EntryRecord | None, place: str, problem: str) -> list[str]:
    return [place, json.dumps(record.plain()) if record else "", problem]


def _row(place: str, record: str, problem: str) -> Row:
    return (
        read_record(json.loads(record), place=place)
        if record
        else Row(place=place, problem=problem)
    )


def _records(dataset: tablib.Dataset) -> Iterable[EntryRecord]:
    for place, record, problem in dataset:
        row = _row(place, record, problem)
        assert row.record is not None
        yield row.record
