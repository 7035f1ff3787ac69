"""python manage.py embed"""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError

from catalog.embedding import EmbedderUnavailable
from catalog.services import embed_missing


class Command(BaseCommand):
    help = "Make every vector that is missing, and finish a change of the embedding model."

    def handle(self, *args: object, **options: object) -> None:
        total = 0
        try:
            while stored := embed_missing(limit=1000):
                total += stored
                self.stderr.write(f"{total} vectors made")
        except EmbedderUnavailable as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Every phrasing has its vector; {total} were made now.")
