"""Generate calls from the schema, run each in this process, and roll it back."""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import schemathesis
from django.core.handlers.wsgi import WSGIHandler
from django.core.signals import got_request_exception
from django.db import transaction
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case, GenerationMode
from schemathesis.core.failures import Failure, FailureGroup
from schemathesis.openapi.checks import UndefinedStatusCode
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.fuzz.world import World

CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# Out of ten valid calls, this many use the keys of existing rows.
KNOWN = 8


@dataclass
class Tally:
    """The counts and failures of the calls."""

    statuses: Counter[int] = field(default_factory=Counter)
    positive: int = 0
    accepted: int = 0  # number of positive calls that were accepted
    undeclared: int = 0
    failures: dict[str, str] = field(default_factory=dict)

    @property
    def calls(self) -> int:
        return self.statuses.total()

    @property
    def server_errors(self) -> int:
        return sum(count for status, count in self.statuses.items() if status >= 500)

    def line(self) -> str:
        statuses = " ".join(f"{status}:{count}" for status, count in sorted(self.statuses.items()))
        return (
            f"{self.calls} calls, {self.positive} as the schema has it, {self.accepted} of them"
            f" accepted; {statuses}; {self.server_errors} server errors,"
            f" {self.undeclared} undeclared answers, {len(self.failures)} kinds of failure"
        )


def operations(secret: str) -> list[APIOperation[Any]]:
    """Return every operation of the schema, as the product serves it."""
    headers = {"Authorization": f"Bearer {secret}", "Accept": "application/vnd.oai.openapi+json"}
    schema = schemathesis.openapi.from_wsgi("/api/v1/schema/", WSGIHandler(), headers=headers)
    return [found.ok() for found in schema.get_all_operations()]


def call_operation(
    operation: APIOperation[Any], *, examples: int, secret: str, world: World, tally: Tally
) -> None:
    """Call the operation `examples` times, about two thirds with valid data. Each call is rolled back."""
    negative, positive = max(examples // 3, 1), GenerationMode.POSITIVE
    for mode, count in ((positive, examples - negative), (GenerationMode.NEGATIVE, negative)):
        if mode is GenerationMode.NEGATIVE and not _has_input(operation):
            continue

        @settings(
            max_examples=count,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode), data=st.data())
        def run(case: Case[Any], data: st.DataObject) -> None:
            is_positive = case.meta is not None and case.meta.generation.mode is positive
            if is_positive and data.draw(st.integers(1, 10)) <= KNOWN:
                _name_what_exists(case, world, data.draw)
            _call(case, secret=secret, is_positive=is_positive, tally=tally)

        run()


def _call(case: Case[Any], *, secret: str, is_positive: bool, tally: Tally) -> None:
    raised: list[str] = []

    def note(sender: object, request: object, **_: object) -> None:
        raised.append(traceback.format_exc(limit=-6))

    got_request_exception.connect(note)
    try:
        with transaction.atomic():
            answer = case.call(headers={"Authorization": f"Bearer {secret}"})
            transaction.set_rollback(True)
    finally:
        got_request_exception.disconnect(note)
    tally.statuses[answer.status_code] += 1
    tally.positive += is_positive
    tally.accepted += is_positive and answer.status_code < 300
    try:
        case.validate_response(answer, checks=CHECKS)
    except FailureGroup as group:
        for failure in group.exceptions:
            assert isinstance(failure, Failure)
            tally.undeclared += isinstance(failure, UndefinedStatusCode)
            key = f"{case.method} {case.path}: {answer.status_code} {failure.title}"
            tally.failures.setdefault(
                key, "\n".join([failure.message, _sent(case), *raised, answer.text[:600]])
            )


def _sent(case: Case[Any]) -> str:
    return f"{case.formatted_path} {case.query} {str(case.body)[:600]}"


def _has_input(operation: APIOperation[Any]) -> bool:
    return bool(operation.path_parameters or operation.query or operation.body)


def _name_what_exists(
    case: Case[Any], world: World, draw: Callable[[st.SearchStrategy[Any]], Any]
) -> None:
    """Replace generated keys with keys of existing rows."""
    for name in case.path_parameters:
        if known := world.known(case.path, name):
            case.path_parameters[name] = draw(st.sampled_from(known))
    case.query = {
        name: draw(st.sampled_from(known)) if (known := world.fields.get(name)) else value
        for name, value in case.query.items()
        if name != "cursor"
    }
    if isinstance(case.body, dict):
        case.body = dict(_known_fields(case.body, world, draw))


def _known_fields(
    body: dict[str, Any], world: World, draw: Callable[[st.SearchStrategy[Any]], Any]
) -> Iterator[tuple[str, Any]]:
    for name, value in body.items():
        if known := world.fields.get(name):
            yield name, draw(st.sampled_from(known))
        elif isinstance(value, list):
            yield (
                name,
                [
                    dict(_known_fields(one, world, draw)) if isinstance(one, dict) else one
                    for one in value
                ],
            )
        else:
            yield name, value
