"""manage.py mirror_catalog [--state]"""

from __future__ import annotations

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

from scriptsmith_site.integrations.mirror.queue import queue_publication
from scriptsmith_site.integrations.mirror.writing import write_mirror
from scriptsmith_site.integrations.notifications.telling import tell_people
from scriptsmith_site.integrations.outbox.events import distribution
from scriptsmith_site.models import Mirror


class Command(BaseCommand):
    help = "Commit new publications of the catalogue to the Git mirror and push them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--state",
            action="store_true",
            help="only print the state of the mirror, without writing to it",
        )

    def handle(self, *, state: bool, **_options: object) -> None:
        if not Mirror.objects.exists():
            raise CommandError(
                "No mirror is set up. An administrator can set one up under Integrations."
            )
        if not state:
            distribution.distribute(tell_people, queue_publication)
            count = 0
            while pushed := write_mirror():
                count += pushed
            self.stdout.write(f"Commits pushed: {count}.")
        mirror = Mirror.objects.get()
        self.stdout.write(
            f"Last commit written to {mirror.address} {mirror.branch}: {mirror.head or 'none'}."
        )
        if mirror.diverged_at is not None:
            raise CommandError(
                f"Stopped, because the last commit on the branch is {mirror.found_head or 'missing'}. "
                "See Integrations, Git mirror."
            )
        if mirror.paused_at is not None:
            raise CommandError(f"Paused. {mirror.paused_why}".rstrip())
        if mirror.failures:
            raise CommandError(mirror.last_error)
