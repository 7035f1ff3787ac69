"""The programs that make up the product beside its servers."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from scriptsmith_site.embedded.layout import Layout
from scriptsmith_site.embedded.local_model.server import Resources, serve
from scriptsmith_site.embedded.supervision.children import Program

# One for each processor: the threads of one go on while another waits for the database, and each process takes memory.
LEAST_WEB_PROCESSES, MOST_WEB_PROCESSES = 2, 3
# Each has a connection to the database, with plans of its own: few that are warm do more than many that are cold.
WEB_THREADS = 5
# As long as a call to a model may take: what has begun is paid for.
_WORKER_GRACE = 130.0
SANDBOX_NICENESS = 15
# Behind the pages, before the sandbox.
_LOCAL_MODEL_NICENESS = 10


def prepare() -> Program:
    """What must be done in the database and on the disk before the rest starts."""
    return Program("prepare", _prepare, grace=5.0)


def web(descriptor: int) -> Program:
    """Gunicorn on a listening socket that is already open."""
    processes = min(MOST_WEB_PROCESSES, max(LEAST_WEB_PROCESSES, os.cpu_count() or 1))
    arguments = ["--bind", f"fd://{descriptor}", "--worker-class", "gthread"]
    arguments += ["--workers", str(processes), "--threads", str(WEB_THREADS)]
    # Loaded once and shared by the processes, which saves memory and half of the start.
    arguments += ["--preload", "--no-control-socket", "--log-level", "warning"]
    arguments += ["--config", "python:scriptsmith_site.web.gunicorn_worker"]
    arguments += ["--timeout", "120", "--graceful-timeout", "8", "--keep-alive", "5"]
    serve = partial(_serve, [*arguments, "scriptsmith_site.wsgi:application"])
    return Program("web", serve, grace=10.0, descriptors=(descriptor,))


def worker(layout: Layout) -> Program:
    """Celery's worker with its scheduler as a thread; told to end, it finishes the calls that it has begun."""
    arguments = ["--queues", "interactive,campaign"]
    arguments += ["--scheduler-thread", "--schedule", str(layout.schedule)]
    return Program("worker", partial(_work, arguments), _WORKER_GRACE, ready=layout.worker_ready)


def sandbox_worker() -> Program:
    """The worker of the sandbox: one script a processor, behind everything that people wait for.

    It finishes nothing when it is told to end: what it was at is begun again by the next one.
    """
    arguments = ["--hostname", "execution@%h", "--queues", "execution"]
    arguments += ["--concurrency", str(os.cpu_count() or 1)]
    work = partial(_work, arguments)
    return Program("sandbox worker", work, grace=5.0, niceness=SANDBOX_NICENESS)


def demo_model(layout: Layout) -> Program:
    """The stand-in model on any free port of loopback."""
    answer = partial(_answer, ["--port", "0", "--announce", str(layout.demo_model)])
    return Program("demo model", answer, grace=3.0)


def local_model(model: Path, layout: Layout, resources: Resources) -> Program:
    """The server of one model file."""
    return Program(
        f"local model {model.stem}",
        partial(serve, model, layout.local_models, resources),
        grace=3.0,
        niceness=_LOCAL_MODEL_NICENESS,
    )


# Each runs in a process of its own, so that the supervisor imports only what it shares with them.


def _prepare() -> None:
    from scriptsmith_site.embedded.prepare import main

    main()


def _serve(arguments: Sequence[str]) -> None:
    from gunicorn.app.wsgiapp import run

    sys.argv = ["gunicorn", *arguments]
    run()


def _work(arguments: Sequence[str]) -> None:
    from celery import current_app

    # Nothing listens to Celery's own events; signs of life are in the database.
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
