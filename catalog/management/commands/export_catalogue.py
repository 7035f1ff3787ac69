"""python manage.py export_catalogue FILE"""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.exchange.formats import EntryRecord, Format, file_parts, format_of, write_folder
from catalog.models import Version
from catalog.services import export_entries

NOTHING_WRITTEN = 2


class Command(BaseCommand):
    help = (
        "Export all entries with all versions. The file extension chooses the format: .jsonl, .csv, .zip, or none"
        " for a folder of entry folders."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("target", type=Path, metavar="FILE")
        parser.add_argument(
            "--state",
            choices=Version.State.values,
            help="export only entries with a version in this state, and only that version",
        )
        parser.add_argument(
            "--folder",
            action="store_true",
            help="write a folder for each entry, regardless of the extension",
        )

    def handle(self, *args: object, **options: Any) -> None:
        target: Path = options["target"]
        state = Version.State(options["state"]) if options["state"] else None
        format = None if options["folder"] else format_of(target.name)
        if format is None and target.suffix and not options["folder"]:
            raise CommandError(
                "Use the extension .jsonl, .csv or .zip. A name without an extension is a folder.",
                returncode=NOTHING_WRITTEN,
            )
        counted = _Counted(export_entries(state=state))
        try:
            _write(target, counted, format)
        except OSError as error:
            raise CommandError(str(error), returncode=NOTHING_WRITTEN) from error
        self.stderr.write(f"{counted.count} entries written to {target}")


class _Counted:
    """An iterator that counts its records."""

    def __init__(self, records: Iterator[EntryRecord]) -> None:
        self._records = records
        self.count = 0

    def __iter__(self) -> Iterator[EntryRecord]:
        for record in self._records:
            self.count += 1
            yield record


def _write(target: Path, records: _Counted, format: Format | None) -> None:
    if format is None:
        target.mkdir(parents=True, exist_ok=True)
        for record in records:
            write_folder(target / str(record.slug), record)
        return
    # Write to a partial file first, so that a failed export does not change an existing file.
    partial = target.with_name(f"{target.name}.part")
    try:
        with partial.open("wb") as file:
            for part in file_parts(records, format):
                file.write(part)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
