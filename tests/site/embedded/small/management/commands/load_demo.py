from __future__ import annotations

import os

from django.core.management.base import BaseCommand

from tests.site.embedded.small.tasks import nap


class Command(BaseCommand):
    def handle(self, *args: object, **options: object) -> None:
        self.stdout.write("Demo accounts: reviewer / secret")
        if sign := os.environ.get("SMALL_NAP"):
            nap.apply_async([sign], queue="interactive")
