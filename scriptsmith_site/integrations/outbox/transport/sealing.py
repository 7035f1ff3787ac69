"""Secrets of destinations, encrypted in the database with a key from SECRET_KEY, or read from the environment."""

from __future__ import annotations

import base64
import os
import re
import secrets

from django.utils.translation import gettext as _

from core import sealing
from core.errors import BadInput

# Variables without this prefix are not read, because they must not be disclosed to receivers.
VARIABLE_PREFIX = "SCRIPTSMITH_OUT_"
_VARIABLE = re.compile(rf"{VARIABLE_PREFIX}[A-Z0-9_]{{1,60}}")
_PURPOSE = "scriptsmith outbox"


class Unreadable(Exception):
    """A secret is missing or cannot be decrypted. The message gives the reason."""


def make_signing_secret() -> str:
    """Generate a secret in the format of Standard Webhooks."""
    return "whsec_" + base64.b64encode(secrets.token_bytes(32)).decode("ascii")


def seal(secret: str) -> bytes:
    """Encrypt a secret."""
    return sealing.seal(secret, purpose=_PURPOSE).encode("ascii")


def unseal(sealed: bytes | memoryview[int]) -> str:
    """Decrypt a secret. Raises Unreadable."""
    try:
        return sealing.unseal(bytes(sealed).decode("ascii", "replace"), purpose=_PURPOSE)
    except sealing.CannotUnseal:
        raise Unreadable(
            _(
                "The secret can't be decrypted, because SCRIPTSMITH_SECRET_KEY has changed. Enter or "
                "create a new secret."
            )
        ) from None


def read_variable(name: str) -> str:
    """Return the value of an environment variable. Raises Unreadable if it is not set."""
    value = os.environ.get(name, "") if _VARIABLE.fullmatch(name) else ""
    if not value:
        raise Unreadable(_("The variable %s is not set in the worker's environment.") % name)
    return value


def check_variable(name: str) -> str:
    """Validate and return a variable name, which may be empty.

    Raises BadInput, which never quotes a possible secret.
    """
    name = name.strip()
    if name and not _VARIABLE.fullmatch(name):
        raise BadInput(
            _("Enter the name of a variable that starts with %s, such as %sCHAT.")
            % (VARIABLE_PREFIX, VARIABLE_PREFIX),
            field="secret_variable",
        )
    return name
