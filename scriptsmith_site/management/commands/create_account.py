"""manage.py create_account NAME"""

from __future__ import annotations

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.urls import reverse

from core.errors import Refused
from scriptsmith_site.people.roles import Role
from scriptsmith_site.people.services import create_account
from scriptsmith_site.people.sign_in.links import make_password_link


class Command(BaseCommand):
    help = "Create an account and print the one-time link for setting its password."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="The username for signing in.")
        parser.add_argument(
            "--role",
            action="append",
            default=[],
            choices=Role.values,
            help="A role of the user. Can be repeated.",
        )
        parser.add_argument("--display-name", default="")
        parser.add_argument(
            "--service",
            action="store_true",
            help="Create a service account, which has no password and only uses tokens.",
        )

    def handle(
        self, *, name: str, role: list[str], display_name: str, service: bool, **_options: object
    ) -> None:
        try:
            with transaction.atomic():
                account = create_account(
                    name, display_name=display_name, roles=role, service_account=service, by=None
                )
                secret = "" if service else make_password_link(account, by=None)
        except Refused as refusal:
            raise CommandError(str(refusal)) from refusal
        if secret:
            self.stdout.write(reverse("set-password", args=[secret]))
