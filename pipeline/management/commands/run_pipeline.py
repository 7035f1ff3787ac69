"""Send one statement through the pipeline in this process, without a worker or broker."""

from __future__ import annotations

import json

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from core.errors import Refused
from pipeline import services
from pipeline.clients.demo_model import demo_model_running
from pipeline.execution.run_worker import run_to_end
from pipeline.models import Run
from pipeline.runs.run_document import masked_in, report_run
from pipeline.types import SecretsChoice


class Command(BaseCommand):
    help = (
        "Find a script for a request in the catalogue, or have one written, assessed and refined."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("statement", help="request text")
        parser.add_argument("--context", default="", help="incident text or environment notes")
        parser.add_argument(
            "--configuration", help="name of a configuration (default: the default configuration)"
        )
        parser.add_argument(
            "--no-retrieval",
            action="store_true",
            help="write a script even if a catalogue entry matches",
        )
        parser.add_argument(
            "--secrets",
            choices=[choice.value for choice in SecretsChoice],
            default=SecretsChoice.MASK.value,
            help="how to handle secrets in text that leaves this machine",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON document")

    def handle(self, *args: object, **options: object) -> None:
        try:
            run = self._make_run(options)
        except Refused as error:
            raise CommandError(str(error), returncode=2) from error
        if run.demo:
            with demo_model_running():
                run = run_to_end(run.pk)
        else:
            run = run_to_end(run.pk)
        report = report_run(run)
        for masked in masked_in(run):
            kinds = ", ".join(map(str, masked["kinds"]))  # type: ignore[call-overload]
            self.stderr.write(f"masked before sending to {masked['endpoint']}: {kinds}")
        if options["json"]:
            self.stdout.write(json.dumps(report, ensure_ascii=False, indent=2))
        else:
            self._print(report)
        if run.state != Run.State.DONE:
            raise CommandError(run.problem or f"The run is {run.get_state_display().lower()}.")

    @transaction.atomic
    def _make_run(self, options: dict[str, object]) -> Run:
        name = options["configuration"]
        configuration = (
            services.find_configuration(str(name)) if name else services.default_configuration()
        )
        action = services.ask(str(options["statement"]), by=None, incident=str(options["context"]))
        return services.start_run(
            action,
            by=None,
            configuration=configuration,
            origin=Run.Origin.COMMAND,
            uses_retrieval=False if options["no_retrieval"] else None,
            secrets=SecretsChoice(str(options["secrets"])),
            enqueue=False,
        )

    def _print(self, report: dict[str, object]) -> None:
        for stage in report["stages"]:  # type: ignore[attr-defined]
            tokens = f"{stage['input_tokens']}+{stage['output_tokens']} tokens"
            self.stdout.write(
                f"{stage['name']:<12}{stage['outcome']:<14}{stage['milliseconds']:>7} ms  {tokens}"
            )
        made_by = "  (demo model)" if report["demo"] else ""
        self.stdout.write(
            f"\nassessor: {report['verdict'] or 'not called'}{made_by}; not reviewed yet.\n"
        )
        self.stdout.write(str(report["script"] or ""))
