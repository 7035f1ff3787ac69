"""Traces by OpenTelemetry. Imported only where they are wanted, for its packages are an extra."""

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
    """Spans of the SDK, handed to a processor; its sampling and limits are set by the variables of OpenTelemetry."""

    def __init__(self, processor: SpanProcessor, *, service: str, version: str) -> None:
        named = Resource.create({SERVICE_NAME: service, SERVICE_VERSION: version})
        self._provider = TracerProvider(resource=named)
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("scriptsmith", version)

    @contextmanager
    def span(self, name: str, attributes: Attributes) -> Iterator[None]:
        # The text of an exception may hold anything: its kind is what is told.
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
        """Send what is left, and no more."""
        self._provider.shutdown()


def make_tracer(*, service: str, version: str) -> OpenTelemetryTracer:
    """One that sends to where OpenTelemetry's own variables say, in a thread of its own.

    To be made after a process has forked, for the thread would not be in its children.
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
