"""Traces: what took how long, told to whoever listens. Where nobody does, nothing is kept and nothing is loaded.

What is told are names of stages, endpoints and models, keys, counts and times: never a statement, a script, a reply or
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
    """What makes spans of what it is told."""

    def span(self, name: str, attributes: Attributes) -> AbstractContextManager[None]:
        """A span over a block; what is recorded within it belongs to it."""
        ...

    def record(
        self, name: str, attributes: Attributes, *, begun: datetime, ended: datetime, failed: bool
    ) -> None:
        """A span of what is over, within the one that is open."""
        ...


# Registered by the composition root, in processes that serve or work and where traces are wanted.
tracer: Tracer | None = None

_is_within = ContextVar("is_within", default=False)


@contextmanager
def span(name: str, attributes: Attributes) -> Iterator[None]:
    """A span over this block, where there is a tracer."""
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
    """Whether what happens now is traced: what lies in no span is told by none."""
    return tracer is not None and _is_within.get()


def record(
    name: str,
    attributes: Attributes,
    *,
    begun: datetime,
    ended: datetime,
    failed: bool = False,
) -> None:
    """A span of what is over, where this is within a span."""
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
    """A span of what is over and belongs to nothing else."""
    if tracer is not None:
        tracer.record(name, attributes, begun=begun, ended=ended, failed=failed)
