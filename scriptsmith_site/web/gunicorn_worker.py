"""Gunicorn's server hooks, which can't be set on the command line (`embedded/supervision/programs.py`)."""

from __future__ import annotations

import random
from typing import Protocol

from core.metrics import forget_process
from scriptsmith_site.operation.traces import begin_traces

# On average, one in this many requests is the last on its connection.
_STAY = 3


class Closable(Protocol):
    """The part of Gunicorn's request that this module uses."""

    def force_close(self) -> None:
        """Close the connection after the response."""


class Ended(Protocol):
    """The part of Gunicorn's worker that this module uses."""

    pid: int


def pre_request(_worker: object, request: Closable) -> None:
    """Close a connection every few responses, so that the next request goes to an idle process.

    Browsers keep connections open, which binds them to one process. On a busy process, reviewers would wait longer and
    could lose items to other reviewers.
    """
    if random.randrange(_STAY) == 0:
        request.force_close()


def post_fork(_server: object, _worker: object) -> None:
    """Start tracing after the fork, because a tracing thread would not exist in a forked process."""
    begin_traces()


def child_exit(_server: object, worker: Ended) -> None:
    """Remove the process's gauges from the metrics. Its counts are kept."""
    forget_process(worker.pid)
