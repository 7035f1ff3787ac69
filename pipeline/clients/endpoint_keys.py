"""An endpoint's key, read from the environment just before it is used; it is stored nowhere."""

from __future__ import annotations

import os

from django.utils.translation import gettext as _

from pipeline.endpoints.address_rules import KEY_PREFIX, is_key_variable
from pipeline.models import Endpoint
from pipeline.types import Problem


def key_of(endpoint: Endpoint) -> str:
    """The key, or what stands for none. Raises Problem where it is not set, or may not be read."""
    name = endpoint.key_variable
    if not name:
        return "none"
    why = why_key_is_not_read(endpoint)
    if why:
        raise Problem(f"{endpoint}: {why}")
    key = os.environ.get(name, "")
    if not key:
        raise Problem(f"{endpoint} needs its key in the environment variable {name}.")
    return key


def has_key(endpoint: Endpoint) -> bool:
    """Whether this process has the key."""
    name = endpoint.key_variable
    return bool(name and is_key_variable(name) and os.environ.get(name))


def why_key_is_not_read(endpoint: Endpoint) -> str:
    """Why the endpoint rests until its variable is named anew; empty where it does not.

    Endpoints that were made before the rule keep the name they have, and nothing is sent to them.
    """
    name = endpoint.key_variable
    if not name or is_key_variable(name):
        return ""
    return _(
        "it rests: %(name)s is no variable for a key of a model service, so its value is not sent. Put the "
        "key into one whose name begins with %(prefix)s, and name that one on the endpoint's page."
    ) % {"name": name, "prefix": KEY_PREFIX}
