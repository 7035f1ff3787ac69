"""manage.py load_demo, which loads the demo and prints its accounts. Running it again changes nothing."""

from __future__ import annotations

from django.core.management.base import BaseCommand, CommandError

from core.errors import Refused
from scriptsmith_site import demo


class Command(BaseCommand):
    help = "Load the demo: the starter catalogue, six accounts, some requests and two studies."

    def handle(self, *args: object, **options: object) -> None:
        try:
            passwords = demo.load()
        except Refused as error:
            raise CommandError(str(error)) from error
        self.stdout.write("Demo accounts (on this machine only):")
        for (name, password), (_name, full_name, role) in zip(
            passwords.items(), demo.ACCOUNTS, strict=True
        ):
            self.stdout.write(f"  {name:<6} {password:<14} {role.label}: {full_name}")
