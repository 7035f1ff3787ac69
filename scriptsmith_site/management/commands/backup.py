"""manage.py backup FILE"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from scriptsmith_site.operation.backup import CannotBackUp, make_backup


class Command(BaseCommand):
    help = "Write database, secret key and kept files to one new file. People may go on working."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="The file to make; it must not exist.")

    def handle(self, *, file: Path, **_options: object) -> None:
        try:
            make_backup(file)
        except CannotBackUp as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{file}: {file.stat().st_size:,} bytes. It holds secrets: keep it safe.")
