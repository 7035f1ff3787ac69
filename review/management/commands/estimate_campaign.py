"""Print the expected cost of a campaign's runs and the expected time of its reviewers."""

from __future__ import annotations

import json

from django.core.management.base import BaseCommand, CommandError, CommandParser

from review.campaigns.estimate import describe, estimate
from review.models import Campaign


class Command(BaseCommand):
    help = "Print the expected cost of a study's remaining runs and the reviewers' time."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", help="name of the study")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: object, **options: object) -> None:
        name = str(options["campaign"])
        campaign = Campaign.objects.filter(name=name, kind=Campaign.Kind.STUDY).first()
        if campaign is None:
            raise CommandError(f"No study named “{name}” exists.", returncode=2)
        expected = estimate(campaign)
        if options["json"]:
            self.stdout.write(json.dumps(describe(expected), ensure_ascii=False, indent=2))
            return
        goes_in_batches = expected.uses_message_batches and expected.cost != expected.direct_cost
        way = "with message batches" if goes_in_batches else "with direct calls"
        for arm in expected.arms:
            self.stdout.write(f"{arm.configuration.name}: {arm.runs} runs, {_dollars(arm.cost)}")
        self.stdout.write(f"Total: {expected.runs} runs, {_dollars(expected.cost)} {way}.")
        self.stdout.write(
            f"Direct calls: {_dollars(expected.direct_cost)}. Message batches: {_dollars(expected.batched_cost)}."
        )
        self.stdout.write(f"Reviewers: {expected.reviews} reviews, {expected.hours:.1f} hours.")


def _dollars(micro_dollars: int | None) -> str:
    return "cost unknown" if micro_dollars is None else f"${micro_dollars / 1_000_000:.2f}"
