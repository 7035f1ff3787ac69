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
        "Run one test in the sandbox and print the sandbox that works here, or the reason why none does"
        " and how to fix it. Exit status: 0 a sandbox works, 1 none does."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON document")

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
