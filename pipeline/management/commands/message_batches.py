"""List message batches: the sent requests, the answered requests, and when the others expire."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from pipeline.message_batches.services import describe, newest_batches

_COLUMNS = ("id", "campaign", "endpoint", "state", "requests", "answered", "expires_at")


class Command(BaseCommand):
    help = "List the newest message batches with their progress."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--unfinished", action="store_true", help="list only batches that have not ended"
        )
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: object, **options: Any) -> None:
        rows = [describe(row) for row in newest_batches(unfinished=options["unfinished"])]
        if options["json"]:
            self.stdout.write(json.dumps(rows, indent=2))
            return
        heads: dict[str, object] = {name: name for name in _COLUMNS}
        for row in (heads, *rows):
            self.stdout.write(
                "  ".join(f"{'-' if row[name] is None else row[name]!s:<14}" for name in _COLUMNS)
            )
