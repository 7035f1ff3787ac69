"""Whether traces are wanted. Off unless OTEL_EXPORTER_OTLP_ENDPOINT is set."""

from __future__ import annotations

import logging

from django.conf import settings
from django.utils.module_loading import import_string

from core import tracing

logger = logging.getLogger(__name__)

MAKER = "scriptsmith_site.operation.open_telemetry.make_tracer"


def begin_traces() -> None:
    """Have this process, which serves or works, tell what it does; nothing where nobody asked for it.

    Packages that are missing, and variables that the library refuses, are logged and end nothing.
    """
    if not settings.SCRIPTSMITH_TRACES_TO or tracing.tracer is not None:
        return
    try:
        make_tracer = import_string(MAKER)
    except ImportError as error:
        logger.warning("There are no traces: %s. Install requirements-otel.txt.", error)
        return
    try:
        tracing.tracer = make_tracer(
            service=settings.SCRIPTSMITH_TRACES_NAME, version=settings.VERSION
        )
    except Exception as error:  # the library's own, of many kinds: pages are served all the same
        logger.warning("There are no traces: %s of OpenTelemetry.", type(error).__name__)
