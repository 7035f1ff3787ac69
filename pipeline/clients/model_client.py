"""The client of models and the inspector of servers, made at their first use: loading the SDK takes seconds."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.utils.module_loading import import_string

from pipeline.llm.probe_findings import Inspector
from pipeline.llm.types import ModelClient


@cache
def model_client() -> ModelClient:
    """The client that the settings name, made at its first use: loading the SDK takes seconds."""
    client: ModelClient = import_string(settings.SCRIPTSMITH_MODEL_CLIENT)()
    return client


_INSPECTOR_PATH = "pipeline.clients.sdk_clients.make_inspector"


@cache
def model_inspector() -> Inspector:
    """Made at its first use: loading the SDK takes seconds."""
    inspector: Inspector = import_string(_INSPECTOR_PATH)()
    return inspector
