"""Run the check of an endpoint in a worker: claim the check, query the server and store the findings."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from django.db import DatabaseError, connection, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from core.audit import record
from core.network.http_exchange import Group, current_group
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
from pipeline.llm.probe import MAX_TOKENS, probe
from pipeline.llm.probe_findings import Found
from pipeline.llm.request_builder import RoleSpec, build_request, reply_of
from pipeline.llm.types import Answered, Failed, FailureKind, ModelClient, Request, Target
from pipeline.models import Endpoint
from pipeline.types import Problem

# A small model without tool support repeats itself up to the token limit, which takes minutes.
LOCAL_MAX_TOKENS = 128
_MOST_SHOWN = 4_000  # characters of the tried script
_INTERVAL = 1.0  # seconds between polls for cancellation
_MAY_BE_GONE = (FailureKind.UNREACHABLE, FailureKind.TIMEOUT)


def carry_out_check(endpoint_id: int, check_id: str) -> None:
    """Run the check and store its findings, unless the check has already started, is superseded or is too old."""
    endpoint = _begin(endpoint_id, check_id)
    if endpoint is None:
        return
    found: dict[str, object] = {"problem": "broken"}
    try:
        with _until_canceled(endpoint_id, check_id):
            found = _look(endpoint)
    finally:
        # Store the problem even after an exception, which is a bug in this code and is logged.
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


@contextmanager
def _until_canceled(endpoint_id: int, check_id: str) -> Iterator[None]:
    """Abort the block's model calls once the check is canceled."""
    group, has_ended = Group(), threading.Event()
    canceled = Endpoint.objects.filter(pk=endpoint_id, probe__canceled=check_id)

    def watch() -> None:
        while not has_ended.wait(_INTERVAL):
            try:
                if canceled.exists():
                    group.abandon(_("The check was canceled."))
            except DatabaseError:
                connection.close()  # the next poll opens a new connection
        connection.close()

    token = current_group.set(group)
    thread = threading.Thread(target=watch, name="check-watch", daemon=True)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()
        current_group.reset(token)


class _CountingClient:
    """A client that stores the number of each model call, so that the page can show the step."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._same = Endpoint.objects.filter(
            pk=endpoint.pk, probe__asked__id=endpoint.probe["asked"]["id"]
        )
        self._calls = 0

    @property
    def is_wanted(self) -> bool:
        """Return whether the check is still stored, which means that it has not been canceled."""
        return self._same.exists()

    @transaction.atomic
    def _note_step(self) -> None:
        if kept := self._same.select_for_update(no_key=True).first():
            kept.probe["asked"]["step"] = self._calls
            kept.save(update_fields=["probe"])

    def send(self, requests: Sequence[tuple[Target, Request]]) -> list[Answered | Failed]:
        self._calls += 1
        self._note_step()
        return model_client().send(requests)


def _look(endpoint: Endpoint) -> dict[str, object]:
    asked, client = endpoint.probe["asked"], _CountingClient(endpoint)
    variable = endpoint.key_variable
    there = has_key(endpoint) if variable else None
    try:
        known = models_known_of(endpoint)
        target = target_of(endpoint, str(asked["model"]) or next(iter(known), ""))
    except (Problem, RunMustWait) as problem:
        rests = why_key_is_not_read(endpoint)
        said = "no key" if there is False and not rests else str(problem)
        return {"problem": said, "worker_has_key": there, "calls": 0}
    found = probe(
        target,
        client=client,
        inspector=model_inspector(),
        model=str(asked["model"]),
        known=known,
        max_tokens=LOCAL_MAX_TOKENS if endpoint.is_built_in else MAX_TOKENS,
    )
    is_gone = any(one.failure in _MAY_BE_GONE for one in found.modes)
    if found.reachable and is_gone and client.is_wanted:
        # The server may have stopped during the check.
        page = model_inspector().get(target, "/v1/models")
        found = replace(found, reachable=page.status is not None)
    tried = _try(target, found, client) if asked.get("tries") and found.recommended else {}
    return {**found.as_json(), "worker_has_key": there, **tried}


def _try(target: Target, found: Found, client: ModelClient) -> dict[str, object]:
    """Request one script as a run would, and return the result of reading the reply."""
    assert found.recommended is not None
    question = generate.question(TRY_STATEMENT, "", [], templates=load_all())
    role = RoleSpec(target.endpoint, 0, found.model, found.recommended)
    [ended] = client.send([(target, build_request(question, role))])
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
        return  # deleted, changed or checked again in the meantime
    endpoint.probe, endpoint.probed_at = found, timezone.now()
    endpoint.save(update_fields=["probe", "probed_at"])
    record(
        endpoint,
        "checked",
        by=None,
        calls=("", found.get("calls", 0)),
        recommended=("", found.get("recommended") or "-"),
    )
