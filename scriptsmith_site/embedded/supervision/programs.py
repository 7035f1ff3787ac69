"""The programs that make up the product beside its servers."""

from __future__ import annotations

import os
import sys

from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.supervision.children import Program

# One for each processor: the threads of one go on while another waits for the database, and each process takes memory.
LEAST_WEB_PROCESSES, MOST_WEB_PROCESSES = 2, 3
# Each has a connection to the database, with plans of its own: few that are warm do more than many that are cold.
WEB_THREADS = 5
# As long as a call to a model may take: what has begun is paid for.
_WORKER_GRACE = 130.0


def prepare() -> Program:
    """What must be done in the database and on the disk before the rest starts."""
    command = [sys.executable, "-m", "scriptsmith_site.embedded.prepare"]
    return Program("prepare", command, grace=5.0)


def web(descriptor: int) -> Program:
    """Gunicorn on a listening socket that is open already."""
    command = [sys.executable, "-m", "gunicorn", "scriptsmith_site.wsgi:application"]
    command += ["--bind", f"fd://{descriptor}", "--worker-class", "gthread"]
    processes = min(MOST_WEB_PROCESSES, max(LEAST_WEB_PROCESSES, os.cpu_count() or 1))
    command += ["--workers", str(processes), "--threads", str(WEB_THREADS)]
    # Loaded once and shared by the processes, which saves memory and half of the start.
    command += ["--preload", "--no-control-socket", "--log-level", "warning"]
    command += ["--config", "python:scriptsmith_site.web.gunicorn_worker"]
    command += ["--timeout", "120", "--graceful-timeout", "8", "--keep-alive", "5"]
    return Program("web", command, grace=10.0, descriptors=(descriptor,))


def worker(layout: Layout) -> Program:
    """Celery's worker with its scheduler; told to end, it finishes the calls that it has begun."""
    command = [sys.executable, "-m", "celery", "-A", "scriptsmith_site", "worker", "-B"]
    command += ["--schedule", str(layout.schedule), "--pool", "threads"]
    command += ["--queues", "interactive,campaign"]
    command += ["--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
    return Program("worker", command, grace=_WORKER_GRACE, ready=layout.worker_ready)


def sandbox_worker() -> Program:
    """The worker of the sandbox: one script a processor, behind everything that people wait for.

    It finishes nothing when it is told to end: what it was at is begun again by the next one.
    """
    command = [
        "nice",
        "-n",
        "15",
        sys.executable,
        "-m",
        "celery",
        "-A",
        "scriptsmith_site",
        "worker",
    ]
    command += ["--hostname", "execution@%h", "--queues", "execution", "--pool", "threads"]
    command += ["--concurrency", str(os.cpu_count() or 1)]
    command += ["--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
    return Program("sandbox worker", command, grace=5.0)


def demo_model(layout: Layout) -> Program:
    """The stand-in model on any free port of loopback."""
    command = [sys.executable, "-m", "pipeline.standin", "--port", "0"]
    return Program("demo model", [*command, "--announce", str(layout.demo_model)], grace=3.0)
