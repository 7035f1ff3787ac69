"""Secrets of commands as they are kept: encrypted."""

from __future__ import annotations

from core import sealing

_PURPOSE = "scriptsmith slash commands"


def seal(secret: str) -> str:
    """The secret encrypted, as text."""
    return sealing.seal(secret, purpose=_PURPOSE)


def unseal(sealed: str) -> str:
    """The secret again. Raises `core.sealing.CannotUnseal`."""
    return sealing.unseal(sealed, purpose=_PURPOSE)
