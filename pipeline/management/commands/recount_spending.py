"""Recount spending from the ledger, in case the daily sums are wrong."""

from __future__ import annotations

from django.core.management.base import BaseCommand

from pipeline.costs.daily_spending import recount_spending


class Command(BaseCommand):
    help = "Recount the daily sums of calls, tokens and cost from the ledger of model calls."

    def handle(self, *args: object, **options: object) -> None:
        wrong = recount_spending()
        self.stdout.write(f"{wrong} rows were corrected." if wrong else "All rows were correct.")
