"""What can be asked of whom at present: configurations and the endpoints behind them."""

from __future__ import annotations

import os

from pipeline.models import Configuration, Endpoint
from pipeline.types import Role


def usable_configurations() -> list[Configuration]:
    """Configurations that a run can be started under now, in a fixed number of queries."""
    found = Configuration.objects.prefetch_related("roles__endpoint")
    return [configuration for configuration in found if is_usable(configuration)]


def is_usable(configuration: Configuration) -> bool:
    """Whether it is in use and every role is played by an endpoint that is switched on."""
    roles = configuration.roles.all()
    is_whole = {setting.role for setting in roles} == {role.value for role in Role}
    is_on = all(setting.endpoint.is_on for setting in roles)
    return configuration.archived_at is None and is_whole and is_on


def has_key(endpoint: Endpoint) -> bool:
    """Whether the environment holds the endpoint's key; the key itself is shown nowhere."""
    return bool(endpoint.key_variable and os.environ.get(endpoint.key_variable))
