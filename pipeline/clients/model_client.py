"""The clients of models and the inspector of servers, created on first use because loading the SDK takes seconds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from pipeline.llm.probe_findings import Inspector
from pipeline.llm.types import Answered, Failed, ModelClient, RemoteBatch, Request, Target


@cache
def model_client() -> ModelClient:
    """The client that the settings name, created on first use."""
    client: ModelClient = import_string(settings.SCRIPTSMITH_MODEL_CLIENT)()
    return client


class BatchesClient(Protocol):
    """Message Batches of a server; like a ModelClient it raises nothing for what a server may do."""

    def create(self, target: Target, requests: Mapping[str, Request]) -> RemoteBatch | Failed: ...

    def retrieve(self, target: Target, remote_id: str) -> RemoteBatch | Failed: ...

    def cancel(self, target: Target, remote_id: str) -> RemoteBatch | Failed: ...

    def newest(self, target: Target) -> list[RemoteBatch] | Failed: ...

    def results(self, target: Target, remote_id: str) -> Iterator[tuple[str, Answered | Failed]]:
        """Raises UnreadableResults if the results break off."""


_BATCHES_CLIENT_PATH = "pipeline.clients.sdk_clients.make_batches_client"


@cache
def batches_client() -> BatchesClient:
    """The client of Message Batches, created on first use."""
    client: BatchesClient = import_string(_BATCHES_CLIENT_PATH)()
    return client


_INSPECTOR_PATH = "pipeline.clients.sdk_clients.make_inspector"


@cache
def model_inspector() -> Inspector:
    """The inspector of servers, created on first use."""
    inspector: Inspector = import_string(_INSPECTOR_PATH)()
    return inspector
