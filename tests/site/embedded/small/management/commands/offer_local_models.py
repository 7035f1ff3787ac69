from __future__ import annotations

from django.core.management.base import BaseCommand


class Command(BaseCommand):
    def handle(self, *args: object, **options: object) -> None:
        self.stdout.write("Local models are offered.")
