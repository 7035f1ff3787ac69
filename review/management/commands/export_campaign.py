"""python manage.py export_campaign CAMPAIGN FILE"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from review.campaigns.looks import log_look
from review.exchange.exporting.exporter import Layout, export_campaign
from review.exchange.importing.campaigns import find_campaign
from review.models import Campaign, ReportLook

NOTHING_WRITTEN = 2
_OF_ENDING = {"csv": Layout.CSV, "json": Layout.JSON, "zip": Layout.DATASET}


class Command(BaseCommand):
    help = (
        "Write the study CAMPAIGN to FILE: items, scores with reviewers and times, "
        "adjudications, rules. The format follows the extension of FILE (.jsonl, .csv, "
        ".json, .zip for a dataset folder). import_items and import_scores read the first "
        "three formats. Exit status: 0 written, 2 not written."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="name of the study")
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument(
            "--format", choices=list(Layout), help="format, if it differs from the extension"
        )

    def handle(self, *args: object, **options: Any) -> None:
        campaign = find_campaign(options["campaign"])
        if campaign is None:
            raise CommandError(
                f"No study named {options['campaign']!r} exists.", returncode=NOTHING_WRITTEN
            )
        target: Path = options["file"]
        ending = target.suffix.lower().removeprefix(".")
        layout = Layout(options["format"] or _OF_ENDING.get(ending, Layout.JSONL))
        try:
            count = _write(campaign, target, layout)
        except OSError as error:
            raise CommandError(str(error), returncode=NOTHING_WRITTEN) from error
        log_look(campaign, ReportLook.What.EXPORT, by=None)
        self.stderr.write(f"{count} records written to {target}")


def _write(campaign: Campaign, target: Path, layout: Layout) -> int:
    """Write the export to a temporary file and rename it, so the target never contains a partial export."""
    if target.exists() and not target.is_file():
        # The target may be a pipe or device. Opening a folder raises a clear error.
        with target.open("wb") as file:
            return export_campaign(campaign, file, by=None, layout=layout)
    part = target.with_name(f".{target.name}.part")
    try:
        with part.open("wb") as file:
            count = export_campaign(campaign, file, by=None, layout=layout)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return count
