"""Shorten an expert's feedback in a worker. Each question is asked only once, even if a worker is killed."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from core.database.clock import database_now
from pipeline.configurations.prompt_versions import templates_of
from pipeline.execution.database_ports import DatabasePorts
from pipeline.flow.passage import Passage
from pipeline.flow.ports import FlowInput
from pipeline.flow.stages.shorten import shorten
from pipeline.llm.types import ModelClient
from pipeline.models import Run, Shortening
from pipeline.scheduling.run_leases import Lease
from pipeline.types import Problem, ReadingOutcome


def carry_out(run: Run, lease: Lease, client: ModelClient) -> None:
    """Shorten all waiting feedback without repeating answered questions. Raises RunMustWait and LostLease."""
    for shortening in run.shortenings.filter(state=Shortening.State.WAITING).select_related(
        "draft"
    ):
        shorter, problem = "", ""
        try:
            shorter = _ask(run, lease, client, shortening)
        except Problem as error:
            problem = str(error)
        with transaction.atomic():
            lease.check()
            Shortening.objects.filter(pk=shortening.pk, state=Shortening.State.WAITING).update(
                state=Shortening.State.FAILED if problem else Shortening.State.DONE,
                shorter=shorter,
                problem=problem,
                ended_at=database_now(),
            )


def _ask(run: Run, lease: Lease, client: ModelClient, shortening: Shortening) -> str:
    ports = DatabasePorts(run, lease, client)
    try:
        flow_input = FlowInput(
            run.action.statement, templates=templates_of(run.spec.get("prompts"))
        )
        reading = shorten(
            Passage(flow_input, ports),
            shortening.draft.script,
            shortening.text,
            number=shortening.number,
        )
        ports.commit_unsaved()
    finally:
        ports.release_capacity()
    if reading.outcome is not ReadingOutcome.READ:
        said = {
            ReadingOutcome.REFUSED: _("The model refused to shorten the feedback."),
            ReadingOutcome.TRUNCATED: _("The model's reply was truncated twice."),
        }
        raise Problem(said.get(reading.outcome, _("The model's reply could not be read.")))
    return "\n".join(f"- {point}" for point in reading.points)
