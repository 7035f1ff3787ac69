"""Encryption of slash command secrets."""

from __future__ import annotations

from core import sealing

_PURPOSE = "scriptsmith slash commands"


def seal(secret: str) -> str:
    """Encrypt the secret and return it as text."""
    return sealing.seal(secret, purpose=_PURPOSE)


def unseal(sealed: str) -> str:
    """Decrypt the secret. Raises `core.sealing.CannotUnseal`."""
    return sealing.unseal(sealed, purpose=_PURPOSE)
