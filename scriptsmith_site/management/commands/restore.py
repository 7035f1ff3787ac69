"""manage.py restore FILE [--yes | --drill]"""

from __future__ import annotations

import getpass
import os
from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from scriptsmith_site.management.commands.backup import PASSPHRASE
from scriptsmith_site.operation.backup import (
    CannotBackUp,
    Unlock,
    drill_backup,
    files_elsewhere,
    restore_backup,
)
from scriptsmith_site.operation.backup.encryption import is_encrypted


class Command(BaseCommand):
    help = (
        "Replace all data with a backup. ScriptSmith must be stopped. With --drill, only test whether "
        "the backup can be restored. ScriptSmith can keep running."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="A file created by `backup`.")
        parser.add_argument("--yes", action="store_true", help="Replace existing data.")
        parser.add_argument(
            "--drill",
            action="store_true",
            help=(
                "Restore into a temporary database, compare row counts and checksums, and delete it "
                "again."
            ),
        )
        parser.add_argument(
            "--identity", type=Path, help="File with a recipient's age or SSH secret key."
        )
        parser.add_argument(
            "--unverified",
            action="store_true",
            help="Also accept a backup without checksums, made by an earlier version.",
        )

    def handle(
        self,
        *,
        file: Path,
        yes: bool,
        drill: bool,
        identity: Path | None,
        unverified: bool,
        **_options: object,
    ) -> None:
        try:
            unlock = self._unlock(file, identity)
            if drill:
                self._drill(file, unlock)
                return
            manifest = restore_backup(file, replace=yes, unverified=unverified, unlock=unlock)
        except CannotBackUp as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Restored the backup made on {manifest.made_at}.")
        if elsewhere := files_elsewhere():
            self.stdout.write(elsewhere)

    def _drill(self, file: Path, unlock: Unlock) -> None:
        drill = drill_backup(file, unlock=unlock)
        self.stdout.write(f"Made on {drill.manifest.made_at} by {drill.manifest.product}.")
        for table in drill.tables:
            said = {True: "the same", False: "DIFFERS", None: "no checksum to compare"}
            expected = "" if table.same is not False else f" (expected {table.expected_rows})"
            self.stdout.write(
                f"{table.table:<40}{table.rows:>12,} rows  {said[table.same]}{expected}"
            )
        rows = sum(table.rows for table in drill.tables)
        if not drill.passed:
            raise CommandError("the restored data differs from the backed-up data")
        verified = "all rows match the backup" if drill.manifest.proves_itself else "not verified"
        self.stdout.write(
            f"The backup can be restored: {len(drill.tables)} tables, {rows:,} rows, {verified}. "
            "The temporary database was deleted."
        )

    @staticmethod
    def _unlock(file: Path, identity: Path | None) -> Unlock:
        if identity is not None or not file.is_file() or not is_encrypted(file):
            return Unlock(identity=identity)
        return Unlock(passphrase=os.environ.get(PASSPHRASE) or getpass.getpass("Passphrase: "))
