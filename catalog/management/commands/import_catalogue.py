"""python manage.py import_catalogue FILE_OR_FOLDER"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.management.base import BaseCommand, CommandError

from catalog.embedding import EmbedderUnavailable
from catalog.exchange.formats import ENDINGS
from catalog.models import Version
from catalog.services import ImportOutcome, ImportReport, embed_missing, import_entries
from core.actor import find_actor
from core.errors import BadInput

SOME_REFUSED = 1
NOTHING_READ = 2


class Command(BaseCommand):
    help = (
        f"Import entries from a file ({', '.join(ENDINGS)}), an entry folder or a folder of them."
        " Exit status: 0 all rows imported, 1 some rows refused, 2 no rows read."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", type=Path, metavar="FILE_OR_FOLDER")
        parser.add_argument(
            "--state", choices=["draft", "in_review", "verified"], default="in_review"
        )
        parser.add_argument(
            "--by", metavar="USER", help="user who imports and, if applicable, verifies the entries"
        )
        parser.add_argument(
            "--dry-run",
            action="store_true",
            help="change nothing, only show what would happen to each row",
        )
        parser.add_argument(
            "--json", action="store_true", help="print the report as one JSON document"
        )

    def handle(self, *args: object, **options: Any) -> None:
        try:
            report = import_entries(
                options["source"],
                by=find_actor(options["by"]),
                state=Version.State(options["state"]),
                dry_run=options["dry_run"],
            )
        except (OSError, BadInput, PermissionDenied) as error:
            raise CommandError(str(error), returncode=NOTHING_READ) from error
        if not options["dry_run"]:
            self._embed()
        self._show(report, options)
        if report.read == len(report.errors):
            raise SystemExit(NOTHING_READ)
        if report.errors:
            raise SystemExit(SOME_REFUSED)

    def _embed(self) -> None:
        try:
            while embed_missing():
                pass
        except EmbedderUnavailable as error:
            self.stderr.write(f"No vectors yet: {error}")

    def _show(self, report: ImportReport, options: Mapping[str, Any]) -> None:
        for row in report.rows:
            if row.outcome is ImportOutcome.REFUSED:
                self.stderr.write(f"{row.place}: {row.why}")
            elif options["dry_run"]:
                said = f"{row.place}: {row.outcome} {row.slug}".rstrip()
                self.stderr.write(f"{said} ({row.why})" if row.why else said)
                if row.warning:
                    self.stderr.write(f"{row.place}: warning: {row.warning}")
        if options["json"]:
            self.stdout.write(json.dumps(_document(report), ensure_ascii=False))
            return
        self.stdout.write(
            f"{report.read} read: {report.entries} new entries, {report.versions} new versions,"
            f" {report.labels} with new labels, {report.phrasings} with new phrasings,"
            f" {report.unchanged} unchanged, {len(report.errors)} refused"
        )


def _document(report: ImportReport) -> dict[str, object]:
    errors = [asdict(error) for error in report.errors]
    return {**report.counts(), "errors": errors, "rows": [asdict(row) for row in report.rows]}
