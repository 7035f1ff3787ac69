"""manage.py restore FILE"""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from scriptsmith_site.operation.backup import CannotBackUp, restore_backup


class Command(BaseCommand):
    help = "Put a backup in the place of everything that is there. ScriptSmith must not be running."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="What `backup` has made.")
        parser.add_argument("--yes", action="store_true", help="Replace the data that is there.")

    def handle(self, *, file: Path, yes: bool, **_options: object) -> None:
        try:
            manifest = restore_backup(file, replace=yes)
        except CannotBackUp as error:
            raise CommandError(str(error)) from error
        call_command("migrate", interactive=False, verbosity=0)
        self.stdout.write(f"Restored as it was on {manifest.made_at}.")
