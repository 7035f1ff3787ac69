"""Traces: how long things took. Without a registered tracer nothing is recorded and no library is loaded.

Spans contain names of stages, endpoints and models, keys, counts and times: never a statement, a script, a reply or
a person.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from datetime import datetime
from typing import Protocol

Attributes = Mapping[str, str | int]


class Tracer(Protocol):
    """Creates spans."""

    def span(self, name: str, attributes: Attributes) -> AbstractContextManager[None]:
        """A span for a block; spans inside it become its children."""
        ...

    def record(
        self, name: str, attributes: Attributes, *, begun: datetime, ended: datetime, failed: bool
    ) -> None:
        """A span for something that has ended, inside the current one."""
        ...


# Registered by the composition root, in processes that serve or work and where traces are wanted.
tracer: Tracer | None = None

_is_within = ContextVar("is_within", default=False)


@contextmanager
def span(name: str, attributes: Attributes) -> Iterator[None]:
    """A span for this block, if there is a tracer."""
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
    """Whether there is a current span; without one nothing is traced."""
    return tracer is not None and _is_within.get()


def record(
    name: str,
    attributes: Attributes,
    *,
    begun: datetime,
    ended: datetime,
    failed: bool = False,
) -> None:
    """A span for something that has ended, if there is a current span."""
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
    """A span of its own for something that has ended."""
    if tracer is not None:
        tracer.record(name, attributes, begun=begun, ended=ended, failed=failed)
