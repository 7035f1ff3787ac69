"""Carries out the check of an endpoint, in a worker: claim it, ask, write down what was found."""

from __future__ import annotations

import os
from functools import cache

from django.db import transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from catalog.audit import record
from pipeline.endpoint_checks import CheckState, check_state, models_known_of
from pipeline.execution import model_client
from pipeline.ledger import target_of
from pipeline.llm.found import Inspector
from pipeline.llm.probe import probe
from pipeline.models import Endpoint
from pipeline.places import Rest
from pipeline.types import Problem

_INSPECTOR = "pipeline.clients.make_inspector"


def carry_out_check(endpoint_id: int, check_id: str) -> None:
    """Do the check and keep what it found; nothing where it is begun, overtaken or too old."""
    endpoint = _begin(endpoint_id, check_id)
    if endpoint is None:
        return
    found: dict[str, object] = {"problem": "broken"}
    try:
        found = _look(endpoint, model=str(endpoint.probe["asked"]["model"]))
    finally:
        # A defect of ours is said to be one, and goes up to the log.
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


def _look(endpoint: Endpoint, *, model: str) -> dict[str, object]:
    variable = endpoint.key_variable
    has_key = bool(os.environ.get(variable)) if variable else None
    try:
        target = target_of(endpoint)
    except (Problem, Rest) as problem:
        said = "no key" if has_key is False else str(problem)
        return {"problem": said, "worker_has_key": has_key, "calls": 0}
    found = probe(
        target,
        client=model_client(),
        inspector=_inspector(),
        model=model,
        known=models_known_of(endpoint),
    )
    return {**found.as_json(), "worker_has_key": has_key}


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


@cache
def _inspector() -> Inspector:
    """Made at its first use: loading the SDK takes seconds."""
    inspector: Inspector = import_string(_INSPECTOR)()
    return inspector
