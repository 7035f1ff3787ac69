"""The Gunicorn settings for containers, with the same numbers of processes and threads as `make run`."""

from __future__ import annotations

import os

from scriptsmith_site.embedded.supervision.programs import MOST_WEB_PROCESSES, WEB_THREADS
from scriptsmith_site.web.gunicorn_worker import child_exit, post_fork, pre_request

__all__ = ["child_exit", "post_fork", "pre_request"]

bind = f"0.0.0.0:{os.environ.get('PORT') or 8000}"
worker_class = "gthread"
workers = int(os.environ.get("WEB_CONCURRENCY") or MOST_WEB_PROCESSES)
threads = WEB_THREADS
preload_app = True
control_socket_disable = True
timeout = 120
graceful_timeout = 8
keepalive = 5
