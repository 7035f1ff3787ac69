"""Tests for runs that call a local model, with a fake server."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from pytest_django import Settings

from pipeline.clients.local_models import LOCAL, LocalModel
from pipeline.configurations.local_presets import offer_local_models
from pipeline.execution import run_worker
from pipeline.ledger.failures import failure_of
from pipeline.models import Attempt, Configuration, Endpoint, RoleSetting, Run
from scriptsmith_site.embedded.layout import Layout
from tests.people import ClientFor
from tests.pipeline.rows import queue_run
from tests.standin_process import StandIn

pytestmark = pytest.mark.django_db
MODEL = "demo-smith"


@pytest.fixture
def folder(settings: Settings, tmp_path: Path) -> Path:
    """Return the folder where local models are announced. The endpoint is on, and one model is available."""
    settings.SCRIPTSMITH_ENDPOINTS = ["demo", LOCAL]
    settings.LAYOUT = Layout(tmp_path)
    settings.LAYOUT.local_models.mkdir()
    offer_local_models([MODEL], slots=1)
    # Like Claude, the demo model rejects a temperature.
    RoleSetting.objects.update(temperature=None)
    return settings.LAYOUT.local_models


def advance(run: Run) -> Run:
    """Advance the run immediately, even if it is waiting."""
    Endpoint.objects.update(blocked_until=None)
    Run.objects.update(not_before=None)
    run_worker.advance(run.pk)
    run.refresh_from_db()
    return run


def port_of(standin: StandIn) -> int:
    return int(standin.url.rpartition(":")[2])


def queue_local(by: User) -> Run:
    return queue_run(by=by, configuration=Configuration.objects.get(name="local-demo-smith"))


def test_run_waits_for_loading_and_survives_kills_of_the_server(
    folder: Path, standin: StandIn, reviewer: User
) -> None:
    run = queue_local(reviewer)
    LocalModel(MODEL, os.getpid()).announce(folder)
    assert advance(run).state == "queued"
    assert not Attempt.objects.exists(), "nothing is asked before the weights are loaded"
    assert "is loading" in Endpoint.objects.get(name=LOCAL).blocked_why, "pages show it"

    # This process was killed.
    LocalModel(MODEL, 2**22 + 1, port_of(standin), "key").announce(folder)
    assert advance(run).state == "queued"
    assert not Attempt.objects.exists()

    LocalModel(MODEL, os.getpid(), port_of(standin), "key").announce(folder)
    standin.faults(*[{"kind": "death", "task": "generate"}] * 3)
    for _ in range(4):
        advance(run)
    assert run.state == "done", run.problem
    modes = {role: spec["mode"] for role, spec in run.roles.items()}
    assert modes == {"generator": "text", "assessor": "schema", "refiner": "text"}
    tries = Attempt.objects.filter(call__run=run, call__stage="generate").order_by("pk")
    assert [one.outcome for one in tries] == ["timeout"] * 3 + ["answered"]


def test_loading_reply_is_a_short_wait_and_no_failure(
    folder: Path, standin: StandIn, client_for: ClientFor, reviewer: User
) -> None:
    """llama.cpp returns 503 until the weights are loaded.

    After other 503 responses, each pause of the endpoint is longer than the previous pause.
    """
    LocalModel(MODEL, os.getpid(), port_of(standin), "key").announce(folder)
    run = queue_local(reviewer)
    standin.faults({"kind": "status", "status": 503, "message": "Loading model", "count": 4})
    for _ in range(4):
        assert advance(run).state == "queued"
        assert 0 < (run.not_before - timezone.now()).total_seconds() <= 2
    client = client_for(reviewer)
    assert client.get(f"/api/v1/runs/{run.pk}/").json()["failure"] is None
    assert "Local model is loading its model." in str(Endpoint.objects.get(name=LOCAL).blocked_why)
    assert advance(run).state == "done"


def test_unusable_local_model_is_explained(
    folder: Path, standin: StandIn, reviewer: User, subtests: pytest.Subtests
) -> None:
    too_long = "request (9030 tokens) exceeds the available context size (8192 tokens)"
    ready = LocalModel(MODEL, os.getpid(), port_of(standin), "key")
    cases: dict[str, tuple[LocalModel | None, str, str]] = {
        "not installed": (None, "make local-model", ""),
        "not a model": (LocalModel(MODEL, 1, problem="It is no GGUF file."), "no GGUF file", ""),
        "prompt too long": (ready, "context size", "SCRIPTSMITH_LOCAL_MODEL_CONTEXT"),
    }
    standin.faults({"kind": "status", "status": 400, "message": too_long})
    for name, (model, problem, advice) in cases.items():
        with subtests.test(name):
            for path in folder.glob("*.json"):
                path.unlink()
            if model is not None:
                model.announce(folder)
            run = advance(queue_local(reviewer))
            assert run.state == "failed"
            assert problem in run.problem
            assert advice in failure_of(run).advice


def test_configurations_follow_the_installed_models(settings: Settings, reviewer: User) -> None:
    large, small = "qwen2.5-coder-1.5b-instruct-q4_k_m", "qwen2.5-coder-0.5b-instruct-q4_k_m"

    def offered() -> dict[str, list[str]]:
        found = Configuration.objects.filter(roles__endpoint__name=LOCAL).distinct()
        return {one.title: [role.model for role in one.roles.all()] for one in found}

    offer_local_models([], slots=1)
    assert offered() == {}
    offer_local_models([large], slots=1)
    assert offered() == {"Local model reviews itself": [large] * 3}
    offer_local_models([large, small], slots=2)
    offer_local_models(["mistral-nemo"], slots=3)
    assert offered() == {
        "Local model reviews itself": [large] * 3,
        "Local model reviews itself (0.5B)": [small] * 3,
        "1.5B writes, 0.5B assesses": [large, small, large],
        "0.5B writes, 1.5B refines": [small, large, large],
        "Local model reviews itself (mistral-nemo)": ["mistral-nemo"] * 3,
    }
    before = set(Configuration.objects.values_list("pk", "title", "name"))
    offer_local_models([large, small], slots=4)
    assert set(Configuration.objects.values_list("pk", "title", "name")) == before
    endpoint = Endpoint.objects.get(name=LOCAL)
    assert (endpoint.max_in_flight, endpoint.is_on) == (4, False), "only the setting switches it on"
    Endpoint.objects.filter(pk=endpoint.pk).update(base_url="http://gpu.lan", max_in_flight=9)
    offer_local_models([large], slots=1)
    assert Endpoint.objects.get(name=LOCAL).max_in_flight == 9, "a user's endpoint stays as it is"
