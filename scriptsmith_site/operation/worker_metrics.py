"""Metrics of a worker machine on a separate port, because no web server runs there.

The port is closed unless SCRIPTSMITH_WORKER_METRICS names an address and a port. It accepts the same tokens as
/metrics.
"""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Iterable
from socketserver import TCPServer, ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from django.db import DatabaseError, connections
from django.http import HttpRequest, HttpResponse
from django.template.response import SimpleTemplateResponse
from drf_spectacular.utils import extend_schema
from prometheus_client import CollectorRegistry

from scriptsmith_site.operation.metrics import Counted, Metrics
from scriptsmith_site.origin import OriginMiddleware

logger = logging.getLogger(__name__)

_PATIENCE = 10  # seconds until a silent connection is closed


@extend_schema(exclude=True)
class WorkerMetrics(Metrics):
    """The endpoint for this machine's counts.

    Metrics from the database are the same everywhere and come from the web server.
    """

    def fill(self, registry: CollectorRegistry) -> None:
        registry.register(Counted())


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True

    def server_bind(self) -> None:
        """Skip the lookup of the host name, which is slow without a name server."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "worker", int(self.server_address[1])
        self.setup_environ()


class _ServerOfIPv6(_Server):
    address_family = socket.AF_INET6


class _Handler(WSGIRequestHandler):
    timeout = _PATIENCE

    def log_message(self, *_arguments: Any) -> None:
        """Do not log scrapes."""

    def address_string(self) -> str:
        return str(self.client_address[0])


def show_counts() -> None:
    """Serve metrics in a thread, if a port is configured. An unavailable port does not stop the worker."""
    if settings.SCRIPTSMITH_WORKER_METRICS is None:
        return
    host, port = settings.SCRIPTSMITH_WORKER_METRICS
    try:
        kind = _ServerOfIPv6 if ":" in host else _Server
        server = make_server(host, port, _answer, kind, _Handler)
    except OSError as error:
        logger.warning("This worker can't serve its metrics on port %s: %s", port, error)
        return
    threading.Thread(target=server.serve_forever, name="worker-metrics", daemon=True).start()


def _answer(
    environ: dict[str, Any], start_response: Callable[[str, list[tuple[str, str]]], object]
) -> Iterable[bytes]:
    try:
        answer = OriginMiddleware(_show)(WSGIRequest(environ))
    except DatabaseError:
        answer = HttpResponse(
            "The database does not respond, so the token can't be checked.", status=503
        )
    finally:
        # Each connection is handled in its own thread, so close the thread's database connections.
        connections.close_all()
    start_response(f"{answer.status_code} {answer.reason_phrase}", list(answer.items()))
    return [answer.content]


def _show(request: HttpRequest) -> HttpResponse:
    if request.path != "/metrics":
        return HttpResponse("Not found. Only /metrics exists here.", status=404)
    answer: HttpResponse = WorkerMetrics.as_view()(request)
    return answer.render() if isinstance(answer, SimpleTemplateResponse) else answer
