"""python manage.py embed"""

from __future__ import annotations

from argparse import ArgumentParser

from django.core.management.base import BaseCommand, CommandError

from catalog.embedding import EmbedderUnavailable
from catalog.retrieval import vector_store

AT_A_TIME = 1000


class Command(BaseCommand):
    help = (
        "Compute all missing vectors. After a change of the embedding model, the old vectors stay in use until"
        " the new ones are complete. You can stop and restart the command."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--show", action="store_true", help="only show the progress")

    def handle(self, *args: object, **options: object) -> None:
        total = 0
        try:
            while not options["show"] and (stored := vector_store.embed_missing(limit=AT_A_TIME)):
                total += stored
                self.stderr.write(_say(vector_store.progress()))
        except EmbedderUnavailable as error:
            raise CommandError(str(error)) from error
        self.stdout.write(_say(vector_store.progress()))
        if not options["show"]:
            self.stdout.write(f"Computed now: {total}.")


def _say(found: vector_store.Progress) -> str:
    shown = found.building or found.current
    if shown is None:
        return "There are no vectors yet."
    says = f"{shown.name}: {found.done} of {found.total} phrasings have a vector."
    if found.building and found.current:
        says += f" Until all phrasings have a vector, {found.current.name} stays in use."
    return f"{says} {shown.trouble}".rstrip()
