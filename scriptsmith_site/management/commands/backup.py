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
    help = (
        "Write the database, the secret key and stored files to one new file. Users can keep "
        "working."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, help="The file to create. It must not exist yet.")
        parser.add_argument(
            "--encrypt",
            action="store_true",
            help=f"Encrypt the backup with a passphrase from {PASSPHRASE}, or prompt for one.",
        )
        parser.add_argument(
            "--recipient",
            action="append",
            default=[],
            metavar="KEY",
            help="Encrypt the backup for the owner of this age or SSH public key. Can be repeated.",
        )

    def handle(
        self, *, file: Path, encrypt: bool, recipient: list[str], **_options: object
    ) -> None:
        if encrypt and recipient:
            raise CommandError(
                "use either --encrypt or --recipient; age does not support both in one file"
            )
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
                "The backup is NOT encrypted. It contains all data and the secret key, so anyone who "
                "has the file can sign in as any user. Keep it safe, or use --encrypt."
            )
        else:
            self.stdout.write(
                "The backup is encrypted. It can't be restored without the key or passphrase."
            )

    @staticmethod
    def _ask_passphrase() -> str:
        given = os.environ.get(PASSPHRASE) or getpass.getpass("Passphrase: ")
        if not given:
            raise CommandError("a passphrase is required")
        if PASSPHRASE not in os.environ and getpass.getpass("Repeat passphrase: ") != given:
            raise CommandError("the passphrases don't match")
        return given
