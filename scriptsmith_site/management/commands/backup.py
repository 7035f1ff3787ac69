"""manage.py backup FILE [--encrypt | --recipient KEY ...]"""

from __future__ import annotations

import getpass
import os
from argparse import ArgumentParser
from pathlib import Path

from django.core.management.base import BaseCommand, CommandError

from scriptsmith_site.operation.backup import CannotBackUp, Lock, files_elsewhere, make_backup

PASSPHRASE = "SCRIPTSMITH_BACKUP_PASSPHRASE"


class Command(BaseCommand):
    help = "Write database, secret key and kept files to one new file. People may go on working."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="The file to make; it must not exist.")
        parser.add_argument(
            "--encrypt",
            action="store_true",
            help=f"Encrypt it with a passphrase, asked for or from {PASSPHRASE}.",
        )
        parser.add_argument(
            "--recipient",
            action="append",
            default=[],
            metavar="KEY",
            help="Encrypt it for the owner of this public key of age or SSH; may be repeated.",
        )

    def handle(
        self, *, file: Path, encrypt: bool, recipient: list[str], **_options: object
    ) -> None:
        if encrypt and recipient:
            raise CommandError("either --encrypt or --recipient: age knows no file with both")
        lock = None
        if recipient:
            lock = Lock(recipients=tuple(recipient))
        elif encrypt:
            lock = Lock(passphrase=self._ask_passphrase())
        try:
            make_backup(file, lock=lock)
        except CannotBackUp as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{file}: {file.stat().st_size:,} bytes.")
        if elsewhere := files_elsewhere():
            self.stdout.write(elsewhere)
        if lock is None:
            self.stdout.write(
                "It is NOT encrypted, and holds the secret key that signs sessions and links, and everything"
                " that people wrote: whoever has it has the product. Keep it safe, or use --encrypt."
            )
        else:
            self.stdout.write(
                "It is encrypted. Without the key or passphrase nobody can restore it."
            )

    @staticmethod
    def _ask_passphrase() -> str:
        given = os.environ.get(PASSPHRASE) or getpass.getpass("Passphrase: ")
        if not given:
            raise CommandError("a passphrase is needed")
        if PASSPHRASE not in os.environ and getpass.getpass("Once more: ") != given:
            raise CommandError("the two are not the same")
        return given
