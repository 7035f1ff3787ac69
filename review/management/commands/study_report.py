"""Print the report of a study: the figures with their intervals, and the agreement."""

from __future__ import annotations

import json

from django.core.management.base import BaseCommand, CommandError, CommandParser

from review.campaigns.looks import log_look
from review.models import Campaign, ReportLook
from review.report.services import make_document
from review.report.text import write_report


class Command(BaseCommand):
    help = "Print every figure of a study with numerator, denominator and interval, and its reviewers' agreement."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("campaign", help="name of the study")
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: object, **options: object) -> None:
        name = str(options["campaign"])
        campaign = Campaign.objects.filter(name=name, kind=Campaign.Kind.STUDY).first()
        if campaign is None:
            raise CommandError(f"No study named “{name}” exists.", returncode=2)
        document = make_document(campaign)
        # Log the view without a user, because the command does not run under an account.
        log_look(campaign, ReportLook.What.REPORT, by=None)
        if options["json"]:
            self.stdout.write(json.dumps(document, ensure_ascii=False, indent=2))
        else:
            self.stdout.write(write_report(document), ending="")
