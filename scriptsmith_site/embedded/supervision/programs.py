"""The product's programs other than its servers."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.local_model.server import Resources, serve
from scriptsmith_site.embedded.supervision.children import Program

# One process per processor is enough, because other threads continue while one waits for the database.
LEAST_WEB_PROCESSES, MOST_WEB_PROCESSES = 2, 3
# Each thread has a database connection with its own plans. A few warm connections are faster than many cold ones.
WEB_THREADS = 5
# The maximum duration of a model call. The worker finishes started calls, because they are paid for.
_WORKER_GRACE = 130.0
SANDBOX_NICENESS = 15
# A lower priority than the web server, but a higher priority than the sandbox.
_LOCAL_MODEL_NICENESS = 10


def prepare() -> Program:
    """Return the program that prepares the database and the static files before the other programs start."""
    return Program("prepare", _prepare, grace=5.0)


def web(descriptor: int) -> Program:
    """Return the Gunicorn program for a socket that is already listening."""
    processes = min(MOST_WEB_PROCESSES, max(LEAST_WEB_PROCESSES, os.cpu_count() or 1))
    arguments = ["--bind", f"fd://{descriptor}", "--worker-class", "gthread"]
    arguments += ["--workers", str(processes), "--threads", str(WEB_THREADS)]
    # Load the code once and share it among the processes, which saves memory and half of the startup time.
    arguments += ["--preload", "--no-control-socket", "--log-level", "warning"]
    arguments += ["--config", "python:scriptsmith_site.web.gunicorn_worker"]
    arguments += ["--timeout", "120", "--graceful-timeout", "8", "--keep-alive", "5"]
    serve = partial(_serve, [*arguments, "scriptsmith_site.wsgi:application"])
    return Program("web", serve, grace=10.0, descriptors=(descriptor,))


def worker(layout: Layout) -> Program:
    """Return Celery's worker with its scheduler as a thread. On SIGTERM, the worker finishes its model calls."""
    arguments = ["--queues", "interactive,campaign"]
    arguments += ["--scheduler-thread", "--schedule", str(layout.schedule)]
    return Program("worker", partial(_work, arguments), _WORKER_GRACE, ready=layout.worker_ready)


def sandbox_worker() -> Program:
    """Return the sandbox worker, which runs one script per processor at a low priority.

    On SIGTERM, the worker drops its jobs, and the next worker starts them again.
    """
    arguments = ["--hostname", "execution@%h", "--queues", "execution"]
    arguments += ["--concurrency", str(os.cpu_count() or 1)]
    work = partial(_work, arguments)
    return Program("sandbox worker", work, grace=5.0, niceness=SANDBOX_NICENESS)


def demo_model(layout: Layout) -> Program:
    """Return the demo model, which listens on a free loopback port."""
    answer = partial(_answer, ["--port", "0", "--announce", str(layout.demo_model)])
    return Program("demo model", answer, grace=3.0)


def local_model(model: Path, layout: Layout, resources: Resources) -> Program:
    """Return the program that serves one model file."""
    return Program(
        f"local model {model.stem}",
        partial(serve, model, layout.local_models, resources),
        grace=3.0,
        niceness=_LOCAL_MODEL_NICENESS,
    )


# Each program runs in its own process, so that the supervisor imports only the code that it shares with them.


def _prepare() -> None:
    from scriptsmith_site.embedded.prepare import main

    main()


def _serve(arguments: Sequence[str]) -> None:
    from gunicorn.app.wsgiapp import run

    sys.argv = ["gunicorn", *arguments]
    run()


def _work(arguments: Sequence[str]) -> None:
    from celery import current_app

    # Celery's own events are not used, because heartbeats are stored in the database.
    quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"]
    sys.argv = [
        "celery",
        "worker",
        "--pool",
        "threads",
        *arguments,
        *quiet,
        "--loglevel",
        "WARNING",
    ]
    sys.exit(current_app.start(sys.argv[1:]))


def _answer(arguments: Sequence[str]) -> None:
    from pipeline.standin.__main__ import main

    sys.exit(main(list(arguments)))
