"""manage.py remove_second_factor NAME"""

from __future__ import annotations

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

from core.actor import find_user
from core.errors import Refused
from scriptsmith_site.people.second_factor.services import remove_all


class Command(BaseCommand):
    help = (
        "Remove a user's second factors, so that the password alone is enough to sign in. Use this "
        "command if the last administrator has lost all second factors."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="The username for signing in.")

    def handle(self, *, name: str, **_options: object) -> None:
        user = find_user(name)
        if user is None:
            raise CommandError(f"No account is named {name!r}.")
        try:
            remove_all(user, by=None)
        except Refused as refusal:
            raise CommandError(str(refusal)) from refusal
