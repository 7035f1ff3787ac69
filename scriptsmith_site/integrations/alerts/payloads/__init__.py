"""Parsers that convert the payload of each kind of source to a common form.

They use neither the database nor the request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scriptsmith_site.integrations.alerts.payloads import (
    generic,
    instana,
    pagerduty,
    prometheus,
)
from scriptsmith_site.integrations.alerts.types import Received, Unreadable

_Reader = Callable[[dict[str, Any]], Received]

_READERS: dict[str, _Reader] = {
    "alertmanager": prometheus.read,
    "grafana": prometheus.read,
    "pagerduty": pagerduty.read,
    "instana": instana.read,
}


def read(
    kind: str, document: dict[str, Any] | list[Any], *, mapping: Mapping[str, str]
) -> Received:
    """Return the alerts of a request. `mapping` is only used for generic JSON. Raises Unreadable."""
    if kind == "generic":
        return generic.read(document, mapping)
    if not isinstance(document, dict):
        raise Unreadable("The body is a list instead of an object.")
    return _READERS[kind](document)
