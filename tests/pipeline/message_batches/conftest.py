"""A campaign that uses Message Batches, and a demo model that completes batches immediately."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest
from pytest_django import Settings

from pipeline import services
from pipeline.models import Batch, Endpoint, Price, Run
from tests.make import make_action
from tests.standin_process import StandIn

DOLLAR = 1_000_000


@pytest.fixture(scope="session")
def batches_process() -> Iterator[StandIn]:
    with StandIn("--batch-seconds", "0", "--batch-bytes", "100000") as standin:
        yield standin


@pytest.fixture
def standin(batches_process: StandIn, settings: Settings) -> StandIn:
    """Return the demo model for the demo endpoint. Its batches end when they are created."""
    batches_process.reset()
    settings.SCRIPTSMITH_DEMO_MODEL_URL = batches_process.url
    settings.SCRIPTSMITH_BATCH_LOOK_SECONDS = 0
    settings.SCRIPTSMITH_BATCH_WAIT_SECONDS = 3600
    return batches_process


@pytest.fixture
def campaign(standin: StandIn, db: None) -> Batch:
    """Return a set of runs that uses Message Batches. Its endpoint supports batches and has a price."""
    endpoint = Endpoint.objects.get(name="demo")
    Endpoint.objects.filter(pk=endpoint.pk).update(has_batches=True)
    Price.objects.filter(endpoint=endpoint).delete()
    for model in ("demo-smith", "demo-smith-2"):
        Price.objects.create(
            endpoint=endpoint,
            model=model,
            since=date(2026, 1, 1),
            input=2 * DOLLAR,
            output=10 * DOLLAR,
        )
    return Batch.objects.create(name="Through batches", uses_message_batches=True)


def start(campaign: Batch | None, count: int = 3, *, statement: str = "") -> list[Run]:
    """Create runs that no worker has started. `campaign` may be None."""
    return [
        services.start_run(
            make_action(statement or f"Count the files in /var/tmp/batches/{number}"),
            by=None,
            origin=Run.Origin.CAMPAIGN,
            uses_retrieval=False,
            batch=campaign,
            enqueue=False,
        )
        for number in range(count)
    ]
