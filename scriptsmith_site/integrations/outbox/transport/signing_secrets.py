"""The current secret of a destination, and its former secret during a rotation."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime

from scriptsmith_site.integrations.outbox.transport.sealing import Unreadable, read_variable, unseal
from scriptsmith_site.models import Destination


def secret_of(destination: Destination) -> str:
    """Return the current secret. Raises Unreadable."""
    if destination.secret_variable:
        return read_variable(destination.secret_variable)
    return unseal(destination.secret)


def secrets_of(destination: Destination, *, now: datetime) -> list[str]:
    """Return the secrets to sign with, the current one first. Raises Unreadable only for the current secret."""
    secrets = [secret_of(destination)]
    if destination.former_secret and destination.former_until and destination.former_until > now:
        with suppress(Unreadable):
            secrets.append(unseal(destination.former_secret))
    return secrets
