"""python manage.py export_offline FOLDER"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.exchange import offline_copy


class Command(BaseCommand):
    help = (
        "Write a page with all verified scripts to FOLDER, to read when ScriptSmith is down. Each copy is a"
        " folder named by the current time. The link `newest` points to it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER")
        parser.add_argument(
            "--keep",
            type=int,
            default=offline_copy.KEPT,
            help="number of copies to keep (%(default)s)",
        )

    def handle(self, *args: object, **options: Any) -> None:
        try:
            made = offline_copy.write_copy(options["folder"], kept=options["keep"])
        except OSError as error:
            raise CommandError(str(error), returncode=2) from error
        self.stderr.write(f"{made.entries} entries written to {made.folder}")
