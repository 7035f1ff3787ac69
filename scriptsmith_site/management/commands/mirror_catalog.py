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
    help = "Commit and push what was published to the Git mirror of the catalogue."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--state", action="store_true", help="only say how it stands; nothing is written"
        )

    def handle(self, *, state: bool, **_options: object) -> None:
        if not Mirror.objects.exists():
            raise CommandError(
                "There is no mirror: an administrator sets it up under Integrations."
            )
        if not state:
            distribution.distribute(tell_people, queue_publication)
            count = 0
            while pushed := write_mirror():
                count += pushed
            self.stdout.write(f"{count} commits were pushed.")
        mirror = Mirror.objects.get()
        self.stdout.write(f"{mirror.address} {mirror.branch} ends with {mirror.head or 'nothing'}.")
        if mirror.diverged_at is not None:
            raise CommandError(
                f"Stopped: the branch ends with {mirror.found_head or 'nothing'}. See Integrations, Git mirror."
            )
        if mirror.paused_at is not None:
            raise CommandError(f"Paused. {mirror.paused_why}".rstrip())
        if mirror.failures:
            raise CommandError(mirror.last_error)
