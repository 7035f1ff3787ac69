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
        "Write all of CAMPAIGN to FILE: items, scores with who and when, adjudications, rules."
        " The layout follows FILE's ending (.jsonl, .csv, .json, .zip for a dataset folder)."
        " import_items and import_scores read the first three again. Exit status: 0 written, 2 not."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="the campaign's name")
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument(
            "--format", choices=list(Layout), help="another layout than the ending's"
        )

    def handle(self, *args: object, **options: Any) -> None:
        campaign = find_campaign(options["campaign"])
        if campaign is None:
            raise CommandError(
                f"There is no campaign named {options['campaign']!r}.", returncode=NOTHING_WRITTEN
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
    """Write beside the target first, so that half an export never stands under its name."""
    if target.exists() and not target.is_file():
        # A pipe or a device; of a folder, opening says what is wrong.
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
