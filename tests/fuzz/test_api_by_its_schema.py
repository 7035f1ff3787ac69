"""Call every operation with data that its schema allows and with data that it forbids. No response may have a 5xx or
undeclared status."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from scriptsmith_site.models import ApiToken
from scriptsmith_site.people.sign_in.tokens import make_token
from tests.fuzz.calling import Tally, call_operation, operations
from tests.fuzz.world import make_world

EXAMPLES = int(os.environ.get("SCRIPTSMITH_FUZZ_EXAMPLES", "3"))
ONLY = os.environ.get("SCRIPTSMITH_FUZZ_ONLY", "")

pytestmark = [pytest.mark.nightly, pytest.mark.django_db, pytest.mark.timeout(3 * 60 * 60)]


@pytest.fixture
def _same_connection() -> Iterator[None]:
    """Keep all calls in the test's transaction, as Django's test client does."""
    signals = (request_started, request_finished)
    for signal in signals:
        signal.disconnect(close_old_connections)
    yield
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.mark.usefixtures("_same_connection")
@pytest.mark.parametrize(("role", "examples"), [("reviewer", EXAMPLES), ("chief", EXAMPLES)])
def test_the_api_keeps_to_its_schema(role: str, examples: int, record_property: object) -> None:
    """Only generated calls can find unexpected combinations of values."""
    world = make_world()
    person: User = getattr(world, role)
    secret = make_token(
        person,
        name="fuzz",
        # The API has no operation for metrics, and the metrics scope requires another role.
        scopes=[one for one in ApiToken.Scope.values if one != ApiToken.Scope.METRICS],
        days=None,
        by=person,
    ).secret
    tally = Tally()
    for operation in operations(secret):
        if ONLY in operation.path:
            call_operation(operation, examples=examples, secret=secret, world=world, tally=tally)
    record_property("fuzz", f"{role}: {tally.line()}")
    shown = "\n\n".join(f"{key}\n{about}" for key, about in tally.failures.items())
    assert not tally.failures, shown
    assert tally.calls
