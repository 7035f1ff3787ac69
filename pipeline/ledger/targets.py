"""Where the requests to an endpoint go: its address, its key, its time limit."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext as _

from pipeline.clients.demo_model import find_demo_model
from pipeline.clients.endpoint_keys import key_of
from pipeline.ledger.capacity import RunMustWait
from pipeline.llm.types import Target
from pipeline.models import Endpoint


def target_of(endpoint: Endpoint) -> Target:
    """Where an endpoint's requests go; the key is read from the environment now and stored nowhere."""
    if endpoint.demo:
        url = find_demo_model()
        if url is None:
            raise RunMustWait(
                _("The demo model is not running."), until=timezone.now() + timedelta(seconds=2)
            )
        return Target(endpoint.name, url, "demo", float(endpoint.timeout_seconds))
    return Target(
        endpoint.name, endpoint.base_url, key_of(endpoint), float(endpoint.timeout_seconds)
    )
