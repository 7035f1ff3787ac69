"""python manage.py sandbox_probe"""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from catalog.execution.sandbox import find_sandbox

UNAVAILABLE = 1


class Command(BaseCommand):
    help = (
        "Run one real case, and say which sandbox scripts are run in here, or why in none and what"
        " would help. Exit status: 0 there is one, 1 there is none."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON document")

    def handle(self, *args: object, **options: Any) -> None:
        found = find_sandbox()
        if options["json"]:
            fingerprint = found.fingerprint
            document = {
                "sandbox": found.sandbox.name if found.sandbox is not None else None,
                "fingerprint": dict(fingerprint.parts) if fingerprint is not None else None,
                "reason": found.reason,
                "remedy": found.remedy,
            }
            self.stdout.write(json.dumps(document))
        else:
            self.stdout.write(str(found))
        if found.sandbox is None:
            raise SystemExit(UNAVAILABLE)
