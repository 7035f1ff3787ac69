"""Alert sources with a secret, and a client without cookies for the alert endpoint."""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpResponse

from scriptsmith_site.integrations.alerts.services import processing, sources
from scriptsmith_site.models import AlertDelivery, AlertSource
from tests.site.alerts.payloads import GENERIC_MAPPING
from tests.web_client import WebClient


@dataclass
class Door:
    """An alert source and the client with which its system sends alerts."""

    source: AlertSource
    secret: str
    client: WebClient = field(default_factory=lambda: WebClient())

    @property
    def url(self) -> str:
        return f"/hooks/{self.source.kind}/{self.source.pk}"

    def send(self, body: Any, *, take_in: bool = True, **headers: str) -> HttpResponse:
        """Send a request as the system would, then process it as the worker would."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = self.post(raw, headers=headers or self.proof(raw))
        if take_in:
            take_in_all()
        return answer

    def post(
        self, raw: bytes, *, headers: dict[str, str], url: str = "", **more: str
    ) -> HttpResponse:
        kind = more.pop("content_type", "application/json")
        url = url or (f"{self.url}/{self.secret}" if self.source.kind == "instana" else self.url)
        return self.client.post(url, raw, content_type=kind, headers=headers)

    def proof(self, raw: bytes) -> dict[str, str]:
        if self.source.proof == "token":
            return (
                {} if self.source.kind == "instana" else {"Authorization": f"Bearer {self.secret}"}
            )
        signed = hmac.new(self.secret.encode(), raw, hashlib.sha256).hexdigest()
        if self.source.kind == "pagerduty":
            return {"X-PagerDuty-Signature": f"v1={signed}"}
        return {"X-Grafana-Alerting-Signature": signed}

    def counts(self) -> dict[str, int]:
        """Return the numbers of requests and alerts by outcome."""
        return dict(self.source.tallies.filter(count__gt=0).values_list("what", "count"))


OpenDoor = Callable[..., "Door"]


def take_in_all() -> None:
    """Process all waiting requests, as a worker would."""
    for key in AlertDelivery.objects.filter(state="waiting").values_list("pk", flat=True):
        processing.take_in(key)


@pytest.fixture
def open_door(administrator: User) -> OpenDoor:
    """Return a function that creates a source of the given kind with its first secret."""

    def make(kind: str = "alertmanager", **details: object) -> Door:
        given = {"name": f"Our {kind}", **details}
        if kind == "generic":
            given.setdefault("mapping", GENERIC_MAPPING)
        source = sources.add_source(kind, by=administrator, details=given)
        made = sources.make_key(source, by=administrator, secret="s" * 32)
        return Door(source, made.secret)

    return make


@pytest.fixture
def door(open_door: OpenDoor) -> Door:
    return open_door()
