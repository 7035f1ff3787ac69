"""Build the target of requests to an endpoint: its address, key and time limit."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone
from django.utils.translation import gettext as _

from pipeline.clients.demo_model import find_demo_model
from pipeline.clients.endpoint_keys import key_of
from pipeline.clients.local_models import find_local_model
from pipeline.ledger.capacity import RunMustWait
from pipeline.ledger.retry_policy import LOADING_REST, rest_endpoint
from pipeline.llm.types import Target
from pipeline.models import Endpoint
from pipeline.types import Problem


def target_of(endpoint: Endpoint, model: str = "") -> Target:
    """Return the target for a model. The key is read from the environment and never stored.

    Raises Problem if the model or key is not available, and RunMustWait while a built-in server is starting.
    """
    if endpoint.demo:
        url = find_demo_model()
        if url is None:
            raise RunMustWait(
                _("The demo model is not running."), until=timezone.now() + timedelta(seconds=2)
            )
        return Target(endpoint.name, url, "demo", float(endpoint.timeout_seconds))
    if endpoint.base_url == Endpoint.LOCAL:
        return _local_target(endpoint, model)
    return Target(
        endpoint.name, endpoint.base_url, key_of(endpoint), float(endpoint.timeout_seconds)
    )


def _local_target(endpoint: Endpoint, model: str) -> Target:
    found = find_local_model(model)
    if found is None:
        raise Problem(
            _(
                "%(model)s is not served on this machine. Download it with `make local-model` or set "
                "SCRIPTSMITH_LOCAL_MODEL to its file. Then start ScriptSmith with "
                "SCRIPTSMITH_ENDPOINTS=demo,local."
            )
            % {"model": model}
        )
    if found.problem:
        raise Problem(found.problem)
    if not found.is_ready:
        # Pages show this reason for the endpoint's pause.
        raise rest_endpoint(endpoint, LOADING_REST, _("The model %s is loading.") % model)
    address = f"http://127.0.0.1:{found.port}"
    return Target(endpoint.name, address, found.key, float(endpoint.timeout_seconds))
