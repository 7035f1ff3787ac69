"""The model clients and the server inspector. They are created on first use, because loading the SDK takes seconds."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from pipeline.llm.probe_findings import Inspector
from pipeline.llm.types import Answered, Failed, ModelClient, RemoteBatch, Request, Target

_creating = threading.Lock()


def model_client() -> ModelClient:
    """Return the only client of this process, which is created on first use. The settings name its class."""
    with _creating:
        return _create_client()


def client_in_use() -> ModelClient | None:
    """Return the client, or None if this process has not used it."""
    return _create_client() if _create_client.cache_info().currsize else None


@cache
def _create_client() -> ModelClient:
    client: ModelClient = import_string(settings.SCRIPTSMITH_MODEL_CLIENT)()
    return client


class BatchesClient(Protocol):
    """A client for a server's Message Batches. Like a ModelClient, it never raises server errors."""

    def create(self, target: Target, requests: Mapping[str, Request]) -> RemoteBatch | Failed: ...

    def retrieve(self, target: Target, remote_id: str) -> RemoteBatch | Failed: ...

    def cancel(self, target: Target, remote_id: str) -> RemoteBatch | Failed: ...

    def newest(self, target: Target) -> list[RemoteBatch] | Failed: ...

    def results(self, target: Target, remote_id: str) -> Iterator[tuple[str, Answered | Failed]]:
        """Yield the results. Raises UnreadableResults if they end early."""


_BATCHES_CLIENT_PATH = "pipeline.clients.sdk_clients.make_batches_client"


@cache
def batches_client() -> BatchesClient:
    """Return the client for Message Batches, which is created on first use."""
    client: BatchesClient = import_string(_BATCHES_CLIENT_PATH)()
    return client


_INSPECTOR_PATH = "pipeline.clients.sdk_clients.make_inspector"


@cache
def model_inspector() -> Inspector:
    """Return the server inspector, which is created on first use."""
    inspector: Inspector = import_string(_INSPECTOR_PATH)()
    return inspector
