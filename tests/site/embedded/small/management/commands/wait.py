from __future__ import annotations

import sys

from django.contrib.contenttypes.models import ContentType
from django.core.management.base import BaseCommand


class Command(BaseCommand):
    """Read the database, report success, and wait until standard input is closed."""

    def handle(self, *args: object, **options: object) -> None:
        ContentType.objects.count()
        self.stdout.write("reading")
        self.stdout.flush()
        sys.stdin.read()
        ContentType.objects.count()
        self.stdout.write("read again")
