"""python manage.py import_catalogue FILE_OR_FOLDER"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.core.management.base import BaseCommand, CommandError

from catalog.embedding import EmbedderUnavailable
from catalog.models import Version
from catalog.services import ImportReport, embed_missing, import_entries
from catalog.types import BadInput

SOME_REFUSED = 1
NOTHING_READ = 2


class Command(BaseCommand):
    help = (
        "Import entries from a JSONL file, an entry folder or a folder of them."
        " Exit status: 0 all good, 1 some rows refused and the good ones kept, 2 nothing read."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", type=Path, metavar="FILE_OR_FOLDER")
        parser.add_argument(
            "--state", choices=["draft", "in_review", "verified"], default="in_review"
        )
        parser.add_argument(
            "--by", metavar="USER", help="who imports, and vouches for the verified"
        )
        parser.add_argument("--dry-run", action="store_true", help="change nothing, only report")
        parser.add_argument("--json", action="store_true", help="the report as one JSON document")

    def handle(self, *args: object, **options: Any) -> None:
        try:
            report = import_entries(
                options["source"],
                by=self._find_user(options["by"]),
                state=Version.State(options["state"]),
                dry_run=options["dry_run"],
            )
        except (OSError, BadInput, PermissionDenied) as error:
            raise CommandError(str(error), returncode=NOTHING_READ) from error
        if not options["dry_run"]:
            self._embed()
        self._show(report, as_json=options["json"])
        if report.read == len(report.errors):
            raise SystemExit(NOTHING_READ)
        if report.errors:
            raise SystemExit(SOME_REFUSED)

    def _find_user(self, name: str | None) -> User | None:
        if name is None:
            return None
        user = User.objects.filter(username=name, is_active=True).first()
        if user is None:
            raise CommandError(f"There is no active account {name!r}.", returncode=NOTHING_READ)
        return user

    def _embed(self) -> None:
        try:
            while embed_missing():
                pass
        except EmbedderUnavailable as error:
            self.stderr.write(f"No vectors yet: {error}")

    def _show(self, report: ImportReport, *, as_json: bool) -> None:
        for error in report.errors:
            self.stderr.write(f"{error.place}: {error.reason}")
        if as_json:
            self.stdout.write(json.dumps(asdict(report), ensure_ascii=False))
            return
        self.stdout.write(
            f"{report.read} read: {report.entries} new entries, {report.versions} new versions,"
            f" {report.phrasings} with new phrasings, {report.unchanged} unchanged,"
            f" {len(report.errors)} refused"
        )
