"""python manage.py export_offline FOLDER"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.exchange import offline_copy


class Command(BaseCommand):
    help = (
        "Write what is verified to FOLDER, to be read when nothing runs: a page and the scripts, in a folder"
        " under the present time; `newest` leads to it."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER")
        parser.add_argument(
            "--keep", type=int, default=offline_copy.KEPT, help="copies that stay (%(default)s)"
        )

    def handle(self, *args: object, **options: Any) -> None:
        try:
            made = offline_copy.write_copy(options["folder"], kept=options["keep"])
        except OSError as error:
            raise CommandError(str(error), returncode=2) from error
        self.stderr.write(f"{made.entries} entries written to {made.folder}")
