"""After the secret key was changed on all machines: the database is used with the new one from now on."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from scriptsmith_site.operation.installation import accept_key


class Command(BaseCommand):
    help = "Use this database with this machine's secret key from now on: people sign in again, open links end."

    def handle(self, *args: object, **options: object) -> None:
        if accept_key():
            self.stdout.write(
                "This machine's key is the database's now. Sessions, one-time links and texts sealed with the "
                "other key can't be read any more."
            )
        else:
            self.stdout.write("This machine's key is the database's already.")
