"""manage.py accept_secret_key, for use after the secret key was changed on all machines."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from scriptsmith_site.operation.installation import accept_key


class Command(BaseCommand):
    help = (
        "Use this database with this machine's secret key from now on. Users must sign in "
        "again, and open links expire."
    )

    def handle(self, *args: object, **options: object) -> None:
        if accept_key():
            self.stdout.write(
                "The database now uses this machine's key. Sessions, one-time links and secrets "
                "encrypted with the previous key are no longer valid."
            )
        else:
            self.stdout.write("The database already uses this machine's key.")
