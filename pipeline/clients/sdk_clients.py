"""Create the clients and the inspector from the settings. Only workers load this module, because it imports the SDK."""

from __future__ import annotations

from django.conf import settings

from pipeline.llm.batches_client import MessageBatchesClient
from pipeline.llm.client import MessagesClient
from pipeline.llm.inspector import SdkInspector
from pipeline.llm.transport import Limits


def make_client() -> MessagesClient:
    """Create the client for runs."""
    return MessagesClient(_limits())


def make_batches_client() -> MessageBatchesClient:
    """Create the client for Message Batches."""
    return MessageBatchesClient(_limits())


def make_inspector() -> SdkInspector:
    """Create the inspector for the free requests of a check."""
    return SdkInspector(_limits())


def _limits() -> Limits:
    return Limits(
        most_bytes=settings.SCRIPTSMITH_MOST_REPLY_BYTES, proxy=settings.SCRIPTSMITH_MODEL_PROXY
    )
