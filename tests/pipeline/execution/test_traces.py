"""Tests for what the spans of OpenTelemetry traces, exported to memory, contain and must not contain."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode
from pytest_django import Settings

from core import tracing
from core.web.public_keys import ITEM, public_key
from pipeline.execution import run_worker
from pipeline.models import Batch, Run
from review.models import Campaign, Item
from scriptsmith_site.operation.open_telemetry import OpenTelemetryTracer
from scriptsmith_site.operation.traces import begin_traces
from tests.pipeline.rows import queue_run
from tests.review.maker import make_study
from tests.standin_process import StandIn

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("standin")]

PASSED = "delete files older than 30 days in /var/tmp/exports"
FLAGGED = "Show the ten directories in /home that take the most space, largest first"
TOLD = {
    "gen_ai.operation.name", "gen_ai.request.model", "gen_ai.usage.input_tokens",
    "gen_ai.usage.output_tokens", "error.type", "scriptsmith.endpoint", "scriptsmith.stage",
    "scriptsmith.round", "scriptsmith.run", "scriptsmith.origin", "scriptsmith.stopped_by",
    "http.request.method", "http.route", "http.response.status_code",
}  # fmt: skip


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[ReadableSpan]]]:
    """Return a function that returns the spans that have ended since its last call."""
    kept = InMemorySpanExporter()
    tracer = OpenTelemetryTracer(SimpleSpanProcessor(kept), service="test", version="1")
    monkeypatch.setattr(tracing, "tracer", tracer)

    def take() -> list[ReadableSpan]:
        found = list(kept.get_finished_spans())
        kept.clear()
        return found

    yield take
    tracer.close()


def carry_out(statement: str, *, batch: Batch | None = None) -> Run:
    return run_worker.run_to_end(queue_run(statement, batch=batch).pk, give_up_after=60)


@pytest.mark.slow
def test_run_has_stage_spans(standin: StandIn, spans: Callable[[], list[ReadableSpan]]) -> None:
    run = carry_out(FLAGGED)
    found = spans()
    (whole,) = (one for one in found if one.name == "run")
    assert whole.attributes == {"scriptsmith.run": run.pk, "scriptsmith.origin": "asked"}
    inner = [one for one in found if one is not whole]
    assert {one.parent.span_id for one in inner if one.parent} == {whole.context.span_id}
    stages = [one.name.removeprefix("stage ") for one in inner if one.name.startswith("stage ")]
    assert sorted(stages) == sorted(run.stages.values_list("name", flat=True))
    calls = [one for one in inner if one.name.startswith("chat ")]
    assert len(calls) == len(standin.calls(billed=True)) > 4
    for one in calls:
        assert one.attributes["gen_ai.usage.output_tokens"]
    assert all(one.end_time >= one.start_time for one in inner if one.start_time and one.end_time)


@pytest.mark.slow
def test_no_text_is_in_any_span(
    spans: Callable[[], list[ReadableSpan]], client_for: Callable[[User], Client], stranger: User
) -> None:
    run = carry_out(FLAGGED)
    client_for(stranger).get("/search/", {"q": "zoesword"})
    client_for(stranger).get("/hooks/instana/77/zoesword")
    found = spans()
    assert any(one.name.startswith("GET ") for one in found)
    texts = [FLAGGED, *run.drafts.values_list("script", flat=True), "zoesword", "/77"]
    for one in found:
        assert one.attributes is not None and set(one.attributes) <= TOLD
        assert not one.events
        said = one.to_json()
        assert not [text for text in texts if text in said]


def test_failed_span_no_message(standin: StandIn, spans: Callable[[], list[ReadableSpan]]) -> None:
    standin.faults({"kind": "status", "status": 529})
    carry_out(PASSED)
    failed = [one for one in spans() if one.status.status_code is StatusCode.ERROR]
    assert [one.attributes["error.type"] for one in failed if one.attributes] != []
    assert all(not one.status.description and not one.events for one in failed)


@pytest.mark.parametrize("statement", [PASSED, pytest.param(FLAGGED, marks=pytest.mark.slow)])
def test_of_a_campaign_nothing_is_traced_whatever_the_verdict(
    statement: str, spans: Callable[[], list[ReadableSpan]], manager: User, reviewer: User
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=0, is_open=False)
    run = carry_out(statement, batch=study.batch)
    assert run.state == Run.State.DONE and run.stages.count() > 6
    assert spans() == []


@pytest.mark.slow
def test_of_a_run_that_a_study_looks_at_nothing_is_traced_before_it_is_closed(
    spans: Callable[[], list[ReadableSpan]], manager: User, reviewer: User
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=1)
    for state in (Campaign.State.OPEN, Campaign.State.CLOSED):
        Campaign.objects.filter(pk=study.pk).update(state=state)
        run = queue_run(PASSED)
        Item.objects.filter(campaign=study).update(run=run)
        spans()
        run_worker.run_to_end(run.pk, give_up_after=60)
        names = [one.name for one in spans() if one.name == "run"]
        assert bool(names) == (state == Campaign.State.CLOSED)


def test_the_reviewers_desk_is_not_traced(
    spans: Callable[[], list[ReadableSpan]], manager: User, reviewer: User, as_reviewer: Client
) -> None:
    study = make_study(by=manager, reviewers=[reviewer], items=1)
    item = Item.objects.get(campaign=study)
    spans()
    assert as_reviewer.get(f"/items/{public_key(ITEM, item.pk)}/").status_code == 200
    assert [one.name for one in spans() if "items/" in one.name] == []


def test_tracing_is_optional(
    monkeypatch: pytest.MonkeyPatch, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tracing, "tracer", None)
    begin_traces()
    assert tracing.tracer is None
    monkeypatch.setitem(sys.modules, "scriptsmith_site.operation.open_telemetry", None)
    settings.SCRIPTSMITH_TRACES_TO = "http://127.0.0.1:9"
    begin_traces()
    assert tracing.tracer is None and "requirements-otel.txt" in caplog.text


@pytest.mark.slow
@pytest.mark.parametrize(("endpoint", "loaded"), [("", "False"), ("http://127.0.0.1:9", "True")])
def test_the_packages_are_loaded_only_where_the_variable_is_set(endpoint: str, loaded: str) -> None:
    """The test needs a separate process, which starts as under gunicorn."""
    lines = (
        "import scriptsmith_site.wsgi, sys; from scriptsmith_site.web.gunicorn_worker import post_fork;"
        "post_fork(None, None); print('opentelemetry.sdk.trace' in sys.modules)"
    )
    done = subprocess.run(
        ["env", f"OTEL_EXPORTER_OTLP_ENDPOINT={endpoint}", sys.executable, "-c", lines],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=settings.BASE_DIR,
    )
    assert done.stdout.split() == [loaded], done.stderr
