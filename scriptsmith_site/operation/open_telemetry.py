"""Traces with OpenTelemetry. This module is imported only if tracing is enabled, because its packages are optional."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanKind, Status, StatusCode

from core.tracing import Attributes


class OpenTelemetryTracer:
    """A tracer that sends the SDK's spans to a processor. OpenTelemetry's variables configure sampling and limits."""

    def __init__(self, processor: SpanProcessor, *, service: str, version: str) -> None:
        named = Resource.create({SERVICE_NAME: service, SERVICE_VERSION: version})
        self._provider = TracerProvider(resource=named)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("scriptsmith", version)

    @contextmanager
    def span(self, name: str, attributes: Attributes) -> Iterator[None]:
        # Record only the type of an exception, because its text may contain anything.
        with self._tracer.start_as_current_span(
            name, attributes=dict(attributes), record_exception=False, set_status_on_exception=False
        ) as made:
            try:
                yield
            except Exception as error:
                made.set_attribute("scriptsmith.stopped_by", type(error).__name__)
                raise

    def record(
        self, name: str, attributes: Attributes, *, begun: datetime, ended: datetime, failed: bool
    ) -> None:
        made = self._tracer.start_span(
            name,
            kind=_kind_of(attributes),
            attributes=dict(attributes),
            start_time=_nanoseconds(begun),
        )
        if failed:
            made.set_status(Status(StatusCode.ERROR))
        made.end(_nanoseconds(max(begun, ended)))

    def close(self) -> None:
        """Send the remaining spans and stop."""
        self._provider.shutdown()


def make_tracer(*, service: str, version: str) -> OpenTelemetryTracer:
    """Return a tracer that exports in a separate thread, configured by OpenTelemetry's environment variables.

    Call this function after a process has forked, because children do not inherit the thread.
    """
    return OpenTelemetryTracer(
        BatchSpanProcessor(OTLPSpanExporter()), service=service, version=version
    )


def _kind_of(attributes: Attributes) -> SpanKind:
    if "http.route" in attributes:
        return SpanKind.SERVER
    return SpanKind.CLIENT if "gen_ai.operation.name" in attributes else SpanKind.INTERNAL


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1_000
