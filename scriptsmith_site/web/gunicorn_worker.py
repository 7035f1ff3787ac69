"""How gunicorn serves: what takes more than a word on the command line (`embedded/supervision/programs.py`)."""

from __future__ import annotations

import random
from typing import Protocol

from core.metrics import forget_process
from scriptsmith_site.operation.traces import begin_traces

# One request of so many is the last on its connection.
_STAY = 3


class Closable(Protocol):
    """Of gunicorn's requests, what is wanted of them here."""

    def force_close(self) -> None:
        """Let the connection end with the answer."""


class Ended(Protocol):
    """Of gunicorn's workers, what is wanted of them here."""

    pid: int


def pre_request(_worker: object, request: Closable) -> None:
    """Close a connection every few answers: the next one goes to a process that has time for it.

    A browser at work keeps its connection, and by that its process: who shares it with many would wait longer than
    others, and lose an item to them.
    """
    if random.randrange(_STAY) == 0:
        request.force_close()


def post_fork(_server: object, _worker: object) -> None:
    """Traces begin here: their thread would not be in a process that is made of another one."""
    begin_traces()


def child_exit(_server: object, worker: Ended) -> None:
    """What a process showed of itself in the metrics ends with it; what it counted stays."""
    forget_process(worker.pid)
