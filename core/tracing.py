"""Tracing of operations. Without a registered tracer, nothing is recorded and no library is loaded.

Spans contain the names of stages, endpoints and models, and keys, counts and times. Spans never contain request text,
scripts, replies or users.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Protocol

Attributes = Mapping[str, str | int]


class Tracer(Protocol):
    """The interface of a tracer, which creates spans."""

    def span(self, name: str, attributes: Attributes) -> AbstractContextManager[None]:
        """Return a context manager that traces a block as a span. Spans inside the block become its children."""
        ...

    def record(
        self, name: str, attributes: Attributes, *, begun: datetime, ended: datetime, failed: bool
    ) -> None:
        """Record a span for an operation that has ended, as a child of the current span."""
        ...


# The composition root registers the tracer in web and worker processes if tracing is enabled.
tracer: Tracer | None = None

_is_within = ContextVar("is_within", default=False)


@contextmanager
def span(name: str, attributes: Attributes) -> Iterator[None]:
    """Trace this block as a span, if there is a tracer."""
    if tracer is None:
        yield
        return
    token = _is_within.set(True)
    try:
        with tracer.span(name, attributes):
            yield
    finally:
        _is_within.reset(token)


def is_within() -> bool:
    """Return whether this code runs within a span."""
    return tracer is not None and _is_within.get()


def record(
    name: str,
    attributes: Attributes,
    *,
    begun: datetime,
    ended: datetime,
    failed: bool = False,
) -> None:
    """Record a span for an operation that has ended, if there is a current span."""
    if is_within():
        record_alone(name, attributes, begun=begun, ended=ended, failed=failed)


def record_alone(
    name: str,
    attributes: Attributes,
    *,
    begun: datetime,
    ended: datetime,
    failed: bool = False,
) -> None:
    """Record a span for an operation that has ended, even without a current span."""
    if tracer is not None:
        tracer.record(name, attributes, begun=begun, ended=ended, failed=failed)
