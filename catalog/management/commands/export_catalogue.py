"""python manage.py export_catalogue FILE"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.files import write_folder, write_jsonl
from catalog.models import Version
from catalog.services import export_entries


class Command(BaseCommand):
    help = (
        "Write each entry's verified version, or else its newest, as a line of JSON to FILE;"
        " or with --folder as a folder of its own inside FILE."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("target", type=Path, metavar="FILE")
        parser.add_argument(
            "--state", choices=Version.State.values, help="only entries in this state"
        )
        parser.add_argument("--folder", action="store_true", help="a folder for each entry")

    def handle(self, *args: object, **options: Any) -> None:
        target: Path = options["target"]
        state = Version.State(options["state"]) if options["state"] else None
        records = export_entries(state=state)
        count = 0
        try:
            if options["folder"]:
                for record in records:
                    assert record.slug is not None
                    write_folder(target / record.slug, record)
                    count += 1
            else:
                with target.open("w", encoding="utf-8", newline="\n") as file:
                    count = write_jsonl(file, records)
        except OSError as error:
            raise CommandError(str(error), returncode=2) from error
        self.stderr.write(f"{count} entries written to {target}")
