"""python manage.py execute_campaign CAMPAIGN --json"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.services import current_sandbox
from review.evidence.executing import Ran, count_states, execute_campaign
from review.exchange.importing.campaigns import find_campaign

NOTHING_RUN = 2


class Command(BaseCommand):
    help = (
        "Run every script of a study in the sandbox tests of its statement. Tests that already ran on "
        "this kind of machine are skipped. Exit status: 0 done, 2 nothing was run."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("campaign", metavar="CAMPAIGN", help="name of the study")
        parser.add_argument("--again", action="store_true", help="run tests again that already ran")
        parser.add_argument(
            "--queue",
            action="store_true",
            help="queue the tests for the sandbox worker and don't wait",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: object, **options: Any) -> None:
        campaign = find_campaign(options["campaign"])
        if campaign is None:
            raise CommandError(
                f"No study named “{options['campaign']}” exists.", returncode=NOTHING_RUN
            )
        found = current_sandbox()
        if found.sandbox is None and not options["queue"]:
            raise CommandError(
                f"Nothing was run: {found.reason} {found.remedy}".strip(), returncode=NOTHING_RUN
            )
        results = []
        for one in execute_campaign(campaign, by_worker=options["queue"], again=options["again"]):
            results.append(one)
            if not options["json"]:
                self.stdout.write(_say(one))
        if options["json"]:
            document: dict[str, object] = {
                "campaign": campaign.name,
                "states": count_states(results),
            }
            document["results"] = [_as_json(one) for one in results]
            self.stdout.write(json.dumps(document))
        if not results:
            raise CommandError(
                "No statement of this study has sandbox tests.", returncode=NOTHING_RUN
            )


def _say(one: Ran) -> str:
    judged = (
        f": {one.passed} of {one.passed + one.failed} checks passed"
        if one.passed + one.failed
        else ""
    )
    return f"{one.work.sha256[:12]} in {one.work.case_set}: {one.state}{judged}"


def _as_json(one: Ran) -> dict[str, object]:
    return {
        "script_sha256": one.work.sha256,
        "case_set_sha256": one.work.case_set.sha256,
        "state": str(one.state),
        "passed": one.passed,
        "failed": one.failed,
        "others": one.others,
    }
