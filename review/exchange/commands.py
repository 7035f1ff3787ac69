"""The base class of import_items and import_scores, with arguments, a report on standard error, and exit codes."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.core.management.base import BaseCommand, CommandError, OutputWrapper

from core.actor import find_actor
from core.errors import Refused
from core.files.lines import UnreadableFile
from review.exchange.importing.importer import Counts, Remark
from review.exchange.rows.columns import BadMapping, read_mapping, read_pairs
from review.exchange.source import Format, Source

SOME_REFUSED = 1
NOTHING_READ = 2


class ImportCommand(BaseCommand):
    """A command that imports a file in the foreground."""

    ours: ClassVar[tuple[str, ...]]
    carry_out: ClassVar[Callable[..., Counts]]

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="name of the study")
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            metavar="OURS=THEIRS",
            help="name of a column in the file, such as statement=query or reviewer:A=rater_a",
        )
        parser.add_argument(
            "--format",
            choices=list(Format),
            default="",
            help="format of the file (default: detected)",
        )
        parser.add_argument("--by", metavar="USER", help="username of the importing manager")
        parser.add_argument(
            "--json", action="store_true", help="print the counts as one JSON document"
        )

    def handle(self, *args: object, **options: Any) -> None:
        try:
            columns = read_mapping(read_pairs(options["map"]), ours=self.ours)
            by = find_actor(options["by"])
            source = Source(options["file"], format=options["format"])
            counts = type(self).carry_out(
                source,
                options["campaign"],
                by=by,
                columns=columns,
                journal=_Printed(self.stderr, source.unit),
            )
        except (OSError, UnreadableFile, BadMapping, Refused, PermissionDenied) as error:
            raise CommandError(str(error), returncode=NOTHING_READ) from error
        self.stderr.write(
            f"{counts.rows} read: {counts.kept} imported, {counts.unchanged} unchanged,"
            f" {counts.refused} rejected"
        )
        if options["json"]:
            report = {"campaign": options["campaign"], **asdict(counts)}
            self.stdout.write(json.dumps(report, ensure_ascii=False))
        if not counts.kept + counts.unchanged:
            raise SystemExit(NOTHING_READ)
        if counts.refused:
            raise SystemExit(SOME_REFUSED)


class _Printed:
    """A journal that prints the remarks about rows immediately."""

    def __init__(self, stream: OutputWrapper, unit: str) -> None:
        self._stream, self._unit = stream, unit

    def note(self, counts: Counts, remarks: Sequence[Remark], *, position: int) -> None:
        """Print a slice's remarks."""
        for remark in remarks:
            self._stream.write(f"{self._unit} {remark}")
