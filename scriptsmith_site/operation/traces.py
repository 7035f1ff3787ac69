"""Startup of tracing, which is off unless OTEL_EXPORTER_OTLP_ENDPOINT is set."""

from __future__ import annotations

import logging

from django.conf import settings
from django.utils.module_loading import import_string

from core import tracing

logger = logging.getLogger(__name__)

MAKER = "scriptsmith_site.operation.open_telemetry.make_tracer"


def begin_traces() -> None:
    """Start tracing in this web or worker process, if it is enabled.

    Missing packages and invalid variables are logged and do not stop the process.
    """
    if not settings.SCRIPTSMITH_TRACES_TO or tracing.tracer is not None:
        return
    try:
        make_tracer = import_string(MAKER)
    except ImportError as error:
        logger.warning("Tracing is off: %s. Install the packages in requirements-otel.txt.", error)
        return
    try:
        tracing.tracer = make_tracer(
            service=settings.SCRIPTSMITH_TRACES_NAME, version=settings.VERSION
        )
    except Exception as error:  # the library raises many types of errors, and pages must still work
        logger.warning("Tracing is off: OpenTelemetry raised %s.", type(error).__name__)
