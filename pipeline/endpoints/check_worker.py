"""Runs the check of an endpoint in a worker: claims it, asks the server, stores the findings."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from core.audit import record
from pipeline.clients.endpoint_keys import has_key, why_key_is_not_read
from pipeline.clients.model_client import model_client, model_inspector
from pipeline.endpoints.check_requests import (
    TRY_STATEMENT,
    CheckState,
    check_state,
    models_known_of,
)
from pipeline.flow.prompts import load_all
from pipeline.flow.stages import generate
from pipeline.ledger.capacity import RunMustWait
from pipeline.ledger.targets import target_of
from pipeline.llm.probe import probe
from pipeline.llm.probe_findings import Found
from pipeline.llm.request_builder import RoleSpec, build_request, reply_of
from pipeline.llm.types import Failed, Target
from pipeline.models import Endpoint
from pipeline.types import Problem

_MOST_SHOWN = 4_000  # characters of a script that was tried


def carry_out_check(endpoint_id: int, check_id: str) -> None:
    """Run the check and store its findings; does nothing if it was begun already, superseded or is too old."""
    endpoint = _begin(endpoint_id, check_id)
    if endpoint is None:
        return
    found: dict[str, object] = {"problem": "broken"}
    try:
        asked = endpoint.probe["asked"]
        found = _look(endpoint, model=str(asked["model"]), tries=bool(asked.get("tries")))
    finally:
        # A defect of ours is shown as one, and the exception goes to the log.
        _keep(endpoint_id, check_id, found)


@transaction.atomic
def _begin(endpoint_id: int, check_id: str) -> Endpoint | None:
    endpoint = Endpoint.objects.select_for_update(no_key=True).filter(pk=endpoint_id).first()
    asked = endpoint.probe.get("asked") if endpoint else None
    if endpoint is None or not asked or asked["id"] != check_id or "begun_at" in asked:
        return None
    if check_state(endpoint) is not CheckState.WAITING:
        return None
    asked["begun_at"] = timezone.now().isoformat()
    endpoint.save(update_fields=["probe"])
    return endpoint


def _look(endpoint: Endpoint, *, model: str, tries: bool) -> dict[str, object]:
    variable = endpoint.key_variable
    there = has_key(endpoint) if variable else None
    try:
        target = target_of(endpoint)
    except (Problem, RunMustWait) as problem:
        rests = why_key_is_not_read(endpoint)
        said = "no key" if there is False and not rests else str(problem)
        return {"problem": said, "worker_has_key": there, "calls": 0}
    found = probe(
        target,
        client=model_client(),
        inspector=model_inspector(),
        model=model,
        known=models_known_of(endpoint),
    )
    tried = _try(target, found) if tries and found.recommended else {}
    return {**found.as_json(), "worker_has_key": there, **tried}


def _try(target: Target, found: Found) -> dict[str, object]:
    """One script, requested as a run would: the reply, and how it was read."""
    assert found.recommended is not None
    question = generate.question(TRY_STATEMENT, "", [], templates=load_all())
    role = RoleSpec(target.endpoint, 0, found.model, found.recommended)
    [ended] = model_client().send([(target, build_request(question, role))])
    if isinstance(ended, Failed):
        return {"tried": {"outcome": "failed", "said": ended.message}, "calls": found.calls + 1}
    reading = generate.STAGE.read(reply_of(ended.message))
    tried = {
        "outcome": reading.outcome.value,
        "said": reading.note,
        "script": reading.script[:_MOST_SHOWN],
        "milliseconds": ended.milliseconds,
        "input_tokens": ended.usage.input,
        "output_tokens": ended.usage.output,
        "usage": ended.doubt or "",
    }
    return {"tried": tried, "calls": found.calls + 1}


@transaction.atomic
def _keep(endpoint_id: int, check_id: str, found: dict[str, object]) -> None:
    endpoint = Endpoint.objects.select_for_update(no_key=True).filter(pk=endpoint_id).first()
    if endpoint is None or (endpoint.probe.get("asked") or {}).get("id") != check_id:
        return  # deleted, changed, or asked again meanwhile
    endpoint.probe, endpoint.probed_at = found, timezone.now()
    endpoint.save(update_fields=["probe", "probed_at"])
    record(
        endpoint,
        "checked",
        by=None,
        calls=("", found.get("calls", 0)),
        recommended=("", found.get("recommended") or "-"),
    )
